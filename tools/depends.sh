#!/bin/sh
# SPDX-License-Identifier: ISC
# Installs what sandcastle needs on a Debian machine, when root; otherwise says
# exactly what to install. Usage: depends.sh build|run|demo|test ...
set -eu

build='gcc libc6-dev make meson ninja-build pkg-config libcurl4-openssl-dev
libssl-dev libsodium-dev libuv1-dev libyaml-dev libseccomp-dev libsqlite3-dev
libmicrohttpd-dev libcmocka-dev libjansson-dev'
run='ca-certificates poppler-utils tesseract-ocr libvips-tools
fonts-dejavu-core fonts-liberation'
demo='python3 util-linux openssl'
test='python3 util-linux openssl curl strace bubblewrap pandoc'

wanted=
for set in "$@"; do
	case $set in
	build) wanted="$wanted $build" ;;
	run) wanted="$wanted $run" ;;
	demo) wanted="$wanted $demo" ;;
	test) wanted="$wanted $test" ;;
	*) echo "depends.sh: unknown set $set" >&2; exit 2 ;;
	esac
done

if ! command -v dpkg-query >/dev/null; then
	echo "This is not a Debian system. Install what these packages hold:" >&2
	echo $wanted >&2
	exit 1
fi

missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "Packages are missing. Install them, then try again:" >&2
	echo "  sudo apt-get install$missing" >&2
	exit 1
fi
echo "Installing:$missing"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	$missing >/dev/null
