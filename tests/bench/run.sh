#!/bin/sh
# SPDX-License-Identifier: ISC
# All measurements, as lines "metric NAME VALUE" with a line above that says how
# they were taken. Run it on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/../.."
staged=$(mktemp -d /tmp/sandcastle-bench-XXXXXX)
trap 'rm -rf "$staged"' EXIT
chmod 755 "$staged"
cp build/sandcastle* "$staged" 2>/dev/null || true
cp build/tests/bench/bench_* "$staged" 2>/dev/null || true
export SANDCASTLE_BUILD="$staged" PYTHONDONTWRITEBYTECODE=1

as_user=
if [ "$(id -u)" = 0 ]; then
	as_user="setpriv --reuid=64321 --regid=64321 --clear-groups --inh-caps=-all"
fi
for bench in "$staged"/bench_*; do
	[ -f "$bench" ] && [ -x "$bench" ] || continue
	(cd / && $as_user "$bench")
done
/usr/bin/python3 tests/bench/bench_courier.py
/usr/bin/python3 tests/bench/bench_castle.py
