#!/usr/bin/env bash
# Checks README.md and the guides in examples/. Every "$ headroom …" line runs, and every query of
# README.md gives rows on a database of the nightly example. Run from the root of the project.
#   readme.sh PROGRAM results.sqlite
set -euo pipefail
program=$1 database=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

commands=$(sed -n 's/^\$ headroom \([^#]*\).*/\1/p' README.md examples/*.md)
while IFS= read -r arguments; do
  case $arguments in
    sweep*--dry-run*) ;;
    sweep*) arguments+=" --out $scratch" ;;
  esac
  eval "\"$program\" $arguments" </dev/null >/dev/null || { echo "failed: headroom $arguments"; exit 1; }
done <<<"$commands"
[ "$(wc -l <<<"$commands")" -ge 30 ] || { echo "too few commands found"; exit 1; }

queries=$(awk '/^```sql/ {on = 1; next} /^```/ {on = 0} on' README.md | tr '\n' ' ')
count=0
while IFS= read -r -d ';' query; do
  rows=$(sqlite3 -readonly "$database" "$query" | wc -l)
  [ "$rows" -gt 0 ] || { echo "no rows: $query"; exit 1; }
  count=$((count + 1))
done <<<"$queries"
[ "$count" -ge 3 ] || { echo "$count queries found, 3 expected"; exit 1; }
