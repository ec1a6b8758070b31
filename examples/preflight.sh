#!/usr/bin/env bash
# Before a training run starts: is there room on the card? Exit code 3 says no, and the run does not start.
# usage: preflight.sh MODEL MACHINE [flags of headroom estimate --task training]
set -euo pipefail
headroom=${HEADROOM:-headroom}
model=$1 machine=$2
shift 2
if "$headroom" estimate "$model" --task training --machine "$machine" "$@"; then
  echo "starting; to watch the card's memory meanwhile:"
  echo "  nvidia-smi -l 1 --query-gpu=memory.used,memory.total,memory.free --format=csv"
else
  code=$?
  [ "$code" -eq 3 ] && echo "not started: it does not fit; the table above says what would" >&2
  exit "$code"
fi
