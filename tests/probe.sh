#!/usr/bin/env bash
# The probe, run for real on this computer's CPU, and its rows through `calibrate`. Skipped (77) where
# python3 has no torch or transformers.  Usage: tests/probe.sh HEADROOM
set -euo pipefail
headroom=$(realpath "$1")
probe=$(cd "$(dirname "$0")/../examples/probe" && pwd)
python=python3
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# What is missing is said, and no row is written that the next run takes for done.
mkdir "$work/no-torch"
echo 'raise ModuleNotFoundError("No module named '"'torch'"'", name="torch")' >"$work/no-torch/torch.py"
status=0
said=$(PYTHONPATH=$work/no-torch $python "$probe/probe.py" run "$probe/tiny-llama.json" --device cpu \
  --out "$work/none.csv" --folder "$work/weights" 2>&1) || status=$?
[ $status = 3 ] && grep -q 'pip install torch' <<<"$said" && [ ! -e "$work/none.csv" ]
status=0
said=$($python "$probe/probe.py" run "$probe/tiny-llama.json" --estimate-only --headroom ./none 2>&1) || status=$?
[ $status = 3 ] && [ "$said" = "probe: no program './none'; --headroom says where it is" ]
for on in "cpu @ desktop-ddr5-64gb" rtx-4090; do
  $python "$probe/probe.py" run "$probe/tiny-llama.json" --device cpu --estimate-only --machine "$on" \
    --headroom "$headroom" | grep -qE '^ +0.00 GiB .* tokens/s .* cpu$'
done
fallback=$probe/../../build/probe-python/bin/python  # of tests/packages.sh
"$python" -c 'import torch, transformers' 2>/dev/null || [ ! -x "$fallback" ] || python=$fallback
"$python" -c 'import torch, transformers' 2>/dev/null || exit 77
cd "$work"
run() { "$python" "$probe/probe.py" run "$probe/tiny-llama.json" --device cpu --batches 1 2 --prompt-tokens 16 \
  --output-tokens 4 --repeats 1 --out rows.csv; }
run
run 2>&1 | grep -c 'there already' | grep -qx 2        # resumed: nothing is measured twice
[ "$(grep -c ',ok,' rows.csv)" = 2 ]
"$headroom" calibrate rows.csv --machine local --models "$probe" --json >found.json || [ $? = 3 ]
grep -q '"left_out": \[\]' found.json                   # every figure was understood
grep -q '"used": 4' found.json
"$python" "$probe/probe.py" run "$probe/tiny-llama.json" --estimate-only --machine rtx-4090 \
  --headroom "$headroom" | grep -q 'tokens/s'
