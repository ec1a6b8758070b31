#!/usr/bin/env bash
# A million points, the same night again, and the difference: what a nightly run takes. Then a night
# of the catalogue on ten machines, 280 points a figure, and the merge of its shards.
#   bench/nights.sh [THOUSANDS] [MODELS]   of points, 1000 by default; of the catalogue, 416 by default
set -euo pipefail
program=${HEADROOM:-$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../build/release/headroom}
batches=$((${1:-1000} / 2))
models=${2:-416}
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
# 4 ways x 10 batches x 10 machines x 7 budgets: 2800 points a model, in 10 figures.
catalogue() {
  "$program" models list --format csv | python3 -c '
import csv, sys
names = [row["model"] for row in csv.DictReader(sys.stdin) if row["parameters"]][: int(sys.argv[1])]
print("models = [" + ", ".join(f"\"{name}\"" for name in names) + "]")' "$models"
}
catalogue_spec() {
  printf '[run]\nname = "catalogue"\nout = "catalogue"\n[[grid]]\n'
  catalogue
  printf 'precisions = ["auto", "fp8", "q8_0", "q4_K_M"]\nruntimes = ["vllm", "vllm", "llama.cpp", "llama.cpp"]\n'
  printf 'link = [["precisions", "runtimes"]]\nbatches = "1-10+1"\nprompt_tokens = [512]\noutput_tokens = [128]\n'
  printf 'machines = ["rtx-4060-laptop @ laptop-32gb", "m4-pro-48gb", "rtx-4060 @ desktop-ddr4-32gb", '
  printf '"rtx-4090 @ desktop-ddr5-64gb", "rtx-5090 @ desktop-ddr5-128gb", "2x rtx-3090 @ desktop-ddr5-64gb", '
  printf '"radeon-8060s-128gb", "h100-sxm-80gb @ epyc-genoa-768gb", "4x a100-sxm-80gb @ epyc-milan-512gb", '
  printf '"8x b200-sxm-180gb @ epyc-turin-1152gb"]\ngpu_budgets = ["40%%-100%%+10%%"]\n'
}
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
[ "$models" -gt 0 ] || exit 0
catalogue_spec >catalogue.toml
sweep() { timed "$1" "$program" sweep catalogue.toml "${@:2}"; }
timed "the catalogue's spec alone (--dry-run)" "$program" sweep catalogue.toml --dry-run
sweep "the catalogue, first night, without results.csv" --csv none
sweep "the same night again" --csv none
timed "a report of that run" "$program" report catalogue --csv none
timed "the same report again" "$program" report catalogue --csv none
rm -r catalogue/index.html catalogue/machines catalogue/curves
timed "its report, most files gone" "$program" report catalogue --csv none
for shard in 1 2 3 4; do "$program" sweep catalogue.toml --out shards --shard "$shard/4" >/dev/null; done
timed "merge of four shards, without results.csv and curves" "$program" merge shards --csv none --no-plots
