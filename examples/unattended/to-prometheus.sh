#!/usr/bin/env bash
# to-prometheus.sh FOLDER CONDITION FILE.prom: writes what matched into a file for the textfile collector
# of Prometheus' node exporter. Call it every night: the figures are 0 where nothing matched.
set -euo pipefail
folder=$1 condition=$2 file=$3
code=0
answer=$(headroom diff "$folder" --fail-if "$condition" --format json 2>/dev/null) || code=$?
figure() {  # NAME of a number in fail_if
  sed -n '/"fail_if": {/,/}/s/.*"'"$1"'": \([0-9]*\).*/\1/p' <<<"$answer"
}
metric() {  # NAME VALUE HELP
  printf '# HELP %s %s\n# TYPE %s gauge\n%s{folder="%s"} %s\n' "$1" "$3" "$1" "$1" "$folder" "$2"
}
matches=$(figure count) models=$(figure models)
case $code in 0 | 3) works=1 ;; *) works=0 ;; esac
{
  metric headroom_diff_works "$works" "1 if headroom diff gave an answer."
  metric headroom_alert_matches "${matches:-0}" "Best ways or points for which the condition holds."
  metric headroom_alert_models "${models:-0}" "Models that they are of."
  metric headroom_diff_time_seconds "$(date +%s)" "When the runs were compared."
} >"$file.$$"
mv "$file.$$" "$file"
[ "$works" = 1 ]
