#!/usr/bin/env bash
# The queries that README.md shows, on a database of the nightly example: each must give rows.
#   readme.sh README.md results.sqlite
set -euo pipefail
queries=$(awk '/^```sql/ {on = 1; next} /^```/ {on = 0} on' "$1" | tr '\n' ' ')
count=0
while IFS= read -r -d ';' query; do
  rows=$(sqlite3 -readonly "$2" "$query" | wc -l)
  [ "$rows" -gt 0 ] || { echo "no rows: $query"; exit 1; }
  count=$((count + 1))
done <<<"$queries"
[ "$count" -ge 3 ] || { echo "$count queries found, 3 expected"; exit 1; }
echo "$count queries"
