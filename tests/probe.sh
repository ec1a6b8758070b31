#!/usr/bin/env bash
# The probe, run for real on this computer's CPU, and its rows through `calibrate`. Skipped (77) where
# python3 has no torch or transformers.  Usage: tests/probe.sh HEADROOM
set -euo pipefail
headroom=$(realpath "$1")
probe=$(cd "$(dirname "$0")/../examples/probe" && pwd)
python=python3
fallback=$probe/../../build/probe-python/bin/python  # of tests/packages.sh
"$python" -c 'import torch, transformers' 2>/dev/null || [ ! -x "$fallback" ] || python=$fallback
"$python" -c 'import torch, transformers' 2>/dev/null || exit 77
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"
run() { "$python" "$probe/probe.py" run "$probe/tiny-llama.json" --device cpu --batches 1 2 --prompt-tokens 16 \
  --output-tokens 4 --repeats 1 --out rows.csv; }
run
run 2>&1 | grep -c 'there already' | grep -qx 2        # resumed: nothing is measured twice
[ "$(grep -c ',ok,' rows.csv)" = 2 ]
"$headroom" calibrate rows.csv --machine local --models "$probe" --json >found.json || [ $? = 3 ]
grep -q '"left_out": \[\]' found.json                   # every figure was understood
grep -q '"used": 4' found.json
"$python" "$probe/probe.py" run "$probe/tiny-llama.json" --device cpu --estimate-only --machine rtx-4090 \
  --headroom "$headroom" | grep -q 'tokens/s'
