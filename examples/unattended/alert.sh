#!/usr/bin/env bash
# alert.sh FOLDER CONDITION COMMAND…: compares the last two runs of FOLDER. If CONDITION holds, COMMAND
# gets the alert on its standard input: one line that says what matched, then the screen of `headroom
# diff`. A diff that fails is an alert too. The exit code is the diff's: 0 nothing matched, 3 an alert.
#
#   alert.sh out/nightly "old.best_verdict = 'fits' and new.best_verdict <> 'fits'" to-mail.sh planning@example.org
set -u
folder=$1 condition=$2
shift 2
message=$(mktemp)
trap 'rm -f "$message"' EXIT
screen=$(headroom diff "$folder" --fail-if "$condition" 2>"$message")
code=$?
[ "$code" = 0 ] && exit 0
{ cat "$message"; printf '\n%s\n' "$screen"; } | "$@" || { echo "alert.sh: $1 failed" >&2; exit 1; }
exit "$code"
