#!/usr/bin/env bash
# to-webhook.sh URL: posts an alert of alert.sh as {"text": "…"}, which incoming webhooks of chats take.
set -euo pipefail
text=$(sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' | awk '{ printf "%s\\n", $0 }')
printf '{"text": "%s"}' "$text" |
  curl --fail --silent --show-error --max-time 30 --retry 2 --header 'Content-Type: application/json' \
    --data-binary @- --output /dev/null "$1"
