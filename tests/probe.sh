#!/usr/bin/env bash
# The probe, run for real on this computer's CPU, and its rows through `calibrate`. Skipped (77) where
# python3 has no torch or transformers.  Usage: tests/probe.sh HEADROOM
set -euo pipefail
headroom=$(realpath "$1")
probe=$(cd "$(dirname "$0")/../examples/probe" && pwd)
python=python3
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
# Missing packages are named, and no row is written that the next run would skip as done.
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
    --headroom "$headroom" | grep -E '^ +0.00 GiB .* tokens/s .* cpu$' >/dev/null
done
# Measured points over the curve, of rows as a card would give them (the figures are made up).
if command -v gnuplot >/dev/null; then
  (cd "$work" && $python - "$probe" <<'PYTHON'
import csv, sys
sys.path.insert(0, sys.argv[1])
import probe
with open("card.csv", "w") as file:
    rows = csv.DictWriter(file, probe.COLUMNS)
    rows.writeheader()
    for gib, status, speed in ((4, "ok", 1.6), (13, "ok", 20), (30, "oom", "")):
        rows.writerow({"task": "inference", "model": "meta-llama/Llama-2-7b-hf", "precision": "bf16",
                       "gpu": "NVIDIA GeForce RTX 4090", "allocation_bytes": gib << 30, "batch": 1,
                       "prompt_tokens": 512, "output_tokens": 32, "status": status, "tokens_s": speed})
PYTHON
    $python "$probe/probe.py" compare card.csv --machine rtx-4090 --headroom "$headroom" | grep -x compare.png >/dev/null
    [ "$(head -c 4 compare.png | tail -c 3)" = PNG ]
    grep -qx '13.0 20' compare.dat && grep -q '^30.0 0' compare.dat
    [ "$(sed -n '/^# measured/q; /^[0-9]/p' compare.dat | wc -l)" -gt 40 ])
fi
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
  --headroom "$headroom" | grep 'tokens/s' >/dev/null
