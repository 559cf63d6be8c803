#!/bin/sh
# SPDX-License-Identifier: ISC
# Runs each target for SECONDS (60), two at a time, from its corpus. What grows
# is kept in build-fuzz/grown/TARGET, what breaks in build-fuzz/found/TARGET.
# One line a target; fails when one of them broke.
#   run.sh [TARGET...]   run.sh --merge [TARGET...]: what grew, made small, is
#                        the corpus from now on
cd "$(dirname "$0")/../.." || exit 1
build=build-fuzz
here=tests/fuzz
seconds=${SECONDS_EACH:-60}

prepare() {
	command -v clang >/dev/null || {
		echo "make fuzz needs clang and libclang-rt-dev" >&2
		exit 1
	}
	test -f $build/build.ninja || CC=clang meson setup $build \
		-Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false \
		>/dev/null || exit 1
	ninja -C $build -t targets all |
		sed -n 's|^\(tests/fuzz/fuzz_[a-z0-9]*\): .*|\1|p' |
		xargs ninja -C $build >$build/fuzz-build.log ||
		{ tail -n 20 $build/fuzz-build.log >&2; exit 1; }
}

fuzz() { # target
	grown=$build/grown/$1
	found=$build/found/$1
	mkdir -p "$grown" "$found"
	$build/tests/fuzz/fuzz_"$1" -max_total_time="$seconds" -timeout=10 \
		-max_len=4096 -print_final_stats=1 -artifact_prefix="$found/" \
		"$grown" $here/corpus/"$1" >"$grown.log" 2>&1
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$grown.log")
	if [ $status -eq 0 ]; then
		echo "ok      $1: $runs inputs in $seconds s"
	else
		echo "FAILED  $1: see $grown.log and $found"
	fi
	return $status
}

merge() { # target
	small=$(mktemp -d)
	$build/tests/fuzz/fuzz_"$1" -merge=1 "$small" $here/corpus/"$1" \
		$build/grown/"$1" >/dev/null 2>&1 || return 1
	# The smallest are the ones that people can read.
	find $here/corpus/"$1" -type f ! -name 'seed-*' ! -name 'found-*' \
		-exec rm {} +
	find "$small" -type f -size -3k -printf '%s %p\n' | sort -n |
		head -n "${MOST:-100}" | while read -r _ file; do
		cmp -s "$file" /dev/null || cp "$file" $here/corpus/"$1"/
	done
	rm -r "$small"
}

action=fuzz
if [ "$1" = --merge ]; then
	action=merge
	shift
fi
prepare
if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # names of ours
	set -- $(cd $here && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')
fi
bad=0
while [ $# -gt 0 ]; do
	$action "$1" &
	first=$!
	second=
	if [ $# -gt 1 ]; then
		$action "$2" &
		second=$!
		shift
	fi
	shift
	wait $first || bad=1
	test -z "$second" || wait "$second" || bad=1
done
exit $bad
