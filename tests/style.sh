#!/bin/sh
# SPDX-License-Identifier: ISC
# Functions that have no place here, and files that have grown too long. TAP.
cd "$(dirname "$0")/.." || exit 1
n=0
bad=0
report() { # wrong lines, what is right
	n=$((n + 1))
	if [ -z "$1" ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		echo "$1" | sed 's/^/# /' | head -20
		bad=1
	fi
}

banned='\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|strtol|strtoul|strtok|system|popen|alloca|setenv|mktemp|tmpnam)\('
report "$(grep -nE "$banned" -r src --include='*.[ch]')" \
	"no function that loses errors or bounds"
report "$(grep -nE '\b(TODO|FIXME|XXX)\b' -r src tests demo tools --exclude-dir=corpus 2>/dev/null |
	grep -v tests/style.sh)" "nothing is left for later in the code"
report "$(find src -name '*.[ch]' | xargs wc -l | awk '$2 != "total" && $1 > 700')" \
	"no file is longer than 700 lines"
report "$(find src tests -name '*.[ch]' | xargs grep -L 'SPDX-License-Identifier: ISC')" \
	"every file names its licence"
report "$(find src -name '*.[ch]' | xargs grep -nE '^typedef struct')" \
	"no struct is hidden behind a typedef"
echo "1..$n"
exit $bad
