#!/usr/bin/env bash
# A million points, the same night again, and the difference: what a nightly run takes.
#   bench/nights.sh [THOUSANDS]   of points, 1000 by default
set -euo pipefail
program=${HEADROOM:-$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../build/release/headroom}
batches=$((${1:-1000} / 2))
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# 4 models x 2 precisions x 5 prompts x 2 machines x 25 budgets: 2000 points a batch.
spec() {
  printf '[run]\nname = "night"\nout = "%s"\n[[grid]]\n' "$2"
  printf 'models = ["llama2-7b", "gpt2", "openai/gpt-oss-20b", "Qwen/Qwen3-32B"]\nprecisions = ["bf16", "fp16"]\n'
  printf 'batches = "1-%s"\nprompt_tokens = "128-2048*2"\nmachines = ["rtx-4090", "2x a100-sxm-40gb"]\n' "$1"
  printf 'gpu_budgets = ["0-24GiB+1GiB"]\n[report]\nplots = false\n'
}
spec "$batches" night >night.toml
spec 40 page >page.toml
timed() {  # LABEL COMMAND...
  python3 - "$@" <<'END'
import resource, subprocess, sys, time
label, command = sys.argv[1], sys.argv[2:]
start = time.perf_counter()
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
wall = time.perf_counter() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"| {label} | {wall:.2f} s | {usage.ru_utime + usage.ru_stime:.2f} s | {usage.ru_maxrss / 1024:.0f} MiB |")
END
}
echo "| what, whole process | wall | CPU | memory |"
echo "|---|---:|---:|---:|"
timed "the first night, with results.csv and tables" "$program" sweep night.toml
timed "the same night again" "$program" sweep night.toml
timed "diff of both" "$program" diff night --out diff.md
timed "diff with a condition over every point" "$program" diff night --out diff.md --fail-if 'new.tokens_s < 0.5 * old.tokens_s'
timed "points by a condition, three columns" "$program" report night --where 'tokens_s > 100' --columns model,batch,tokens_s --out some.csv
timed "80 thousand points, with its page" "$program" sweep page.toml
ls -l page/index.html | awk '{print "the page of 80 thousand points: " $5 / 1e6 " MB"}'
