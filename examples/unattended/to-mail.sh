#!/usr/bin/env bash
# to-mail.sh ADDRESS: sends an alert of alert.sh as mail. Its first line is the subject.
set -euo pipefail
IFS= read -r subject || true
{
  printf 'To: %s\nSubject: headroom: %s\n' "$1" "$subject"
  printf 'MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n\n%s\n' "$subject"
  cat
} | "${SENDMAIL:-/usr/sbin/sendmail}" -t
