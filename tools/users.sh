#!/bin/sh
# SPDX-License-Identifier: ISC
# Makes the three system users that sandcastle runs as when root starts it:
# core, keep and yard each get one, so that none can read another's memory or
# files. Does nothing for a user that is there.
set -eu

for user in sandcastle sandcastle-keep sandcastle-yard; do
	if ! getent passwd "$user" >/dev/null; then
		useradd --system --user-group --no-create-home \
			--home-dir /nonexistent --shell /usr/sbin/nologin "$user"
		echo "made the system user $user"
	fi
done
