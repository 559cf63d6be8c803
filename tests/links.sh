#!/bin/sh
# SPDX-License-Identifier: ISC
# What a process can do shows in its link line: DT_NEEDED of each program,
# compared with what it may have. Usage: links.sh BUILD. TAP.
build=${1:?usage: links.sh BUILD}

needs() {
	readelf -d "$build/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
		grep -v -e '^libc\.so' -e '^ld-linux' -e '^libm\.so' |
		sed 's/\.so.*//' | sort | tr '\n' ' ' | sed 's/ $//'
}

n=0
bad=0
check() { # program, allowed libraries
	n=$((n + 1))
	if [ ! -x "$build/$1" ]; then
		echo "not ok $n - $1 is not there"
		bad=1
		return
	fi
	got=$(needs "$1")
	for library in $got; do
		case " $2 " in
		*" $library "*) ;;
		*)
			echo "not ok $n - $1 links $library (allowed: ${2:-none})"
			bad=1
			return
			;;
		esac
	done
	echo "ok $n - $1 links ${got:-libc only}"
}

check sandcastle "libyaml-0"
check sandcastle-supervisor ""
check sandcastle-core "libyaml-0 libuv libsqlite3 libseccomp"
check sandcastle-keep "libyaml-0 libsodium libseccomp"
check sandcastle-courier "libcurl libssl libcrypto libseccomp"
check sandcastle-dialer "libseccomp"
check sandcastle-yard "libyaml-0 libseccomp"
check sandcastle-init ""
check sandcastle-driver ""
check sandcastle-queue "libmicrohttpd libsqlite3"

# And what each must have, or the row above could not fail.
must() {
	n=$((n + 1))
	case " $(needs "$1") " in
	*" $2 "*) echo "ok $n - $1 does link $2" ;;
	*)
		echo "not ok $n - $1 does not link $2"
		bad=1
		;;
	esac
}
must sandcastle-courier libcurl
must sandcastle-keep libsodium
must sandcastle-core libsqlite3
echo "1..$n"
exit $bad
