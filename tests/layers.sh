#!/bin/sh
# SPDX-License-Identifier: ISC
# The arrows between the rooms, read from the #include lines:
#   base ← contract ← {wire, confine, config} ← one folder per process
# config may use wire (addresses of a dial order); no process folder includes
# another's headers. TAP.
cd "$(dirname "$0")/../src" || exit 1

allowed() { # room → the rooms it may include, itself apart
	case $1 in
	base) echo "" ;;
	contract) echo "base" ;;
	wire) echo "base contract" ;;
	confine) echo "base" ;;
	config) echo "base contract wire" ;;
	supervisor) echo "base wire" ;;
	dialer) echo "base wire confine" ;;
	driver) echo "base contract wire" ;;
	queue) echo "base contract" ;;
	core | keep | courier | yard | cli) echo "base contract wire confine config" ;;
	*) echo "unknown" ;;
	esac
}

n=0
bad=0
for room in */; do
	room=${room%/}
	n=$((n + 1))
	rules=" $room $(allowed "$room") "
	wrong=$(grep -hn '^#include "' "$room"/*.[ch] 2>/dev/null |
		sed 's/.*"\(.*\)".*/\1/' | while read -r header; do
		case $rules in
		*" ${header%%/*} "*) ;;
		*) echo "$header" ;;
		esac
	done | sort -u | tr '\n' ' ')
	if [ -z "$wrong" ]; then
		echo "ok $n - $room includes only what stands below it"
	else
		echo "not ok $n - $room includes $wrong"
		bad=1
	fi
done
echo "1..$n"
exit $bad
