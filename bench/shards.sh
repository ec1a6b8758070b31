#!/usr/bin/env bash
# A grid in shards under a real Slurm of one node. Some shards are killed or requeued in mid-run. Their
# merge is held against evaluation without shards. Prints a table of what each stage took.
#   bench/shards.sh [POINTS] [SHARDS] [FOLDER]
# POINTS: 100,000,000 by default, a multiple of 40,000. SHARDS: 16. FOLDER: a new one, removed at the
# end, with room for two databases. It needs root, slurm-wlm, munge, sqlite3 and python3. A Slurm that
# SLURM_CONF names is used. HEADROOM names another program, with bench/bench_grid beside it.
set -euo pipefail
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
. "$here/../tests/one_node_slurm.sh"
PROGRAM=$(realpath "${HEADROOM:-$here/../build/release/headroom}")
points=${1:-100000000} shards=${2:-16}
if [ -n "${3:-}" ]; then
  mkdir -p "$3"
  folder=$(realpath "$3")
  removed=()
else
  folder=$(mktemp -d)
  removed=("$folder")
fi
own_slurm=
[ -n "${SLURM_CONF:-}" ] || own_slurm=$(mktemp -d)
trap '[ -z "$own_slurm" ] || stop_slurm "$own_slurm"; rm -rf "$own_slurm" "${removed[@]}"' EXIT
export PROGRAM HEADROOM=$here/measured.py MEASURED=$folder/costs.jsonl
: >"$MEASURED"

# 5 models x 4 precisions x 2 runtimes x 5 prompts x 4 outputs x 50 budgets of two machines x batches.
cat >"$folder/shards.toml" <<END
[run]
name = "shards"
[[grid]]
models = ["Qwen/Qwen3-8B", "meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b", "Qwen/Qwen3-32B", "deepseek-ai/DeepSeek-V2-Lite"]
precisions = ["bf16", "int8", "q8_0", "q4_K_M"]
runtimes = ["transformers", "llama.cpp"]
machines = ["rtx-4090", "2x a100-sxm-40gb"]
batches = "1-$((points / 40000))"
prompt_tokens = "128-2048*2"
output_tokens = "64-512*2"
gpu_budgets = ["0-24GiB+1GiB"]
[report]
plots = false
csv = "none"
END

# strike K: the process of shard K is killed, or its task is requeued.
strike() {
  if [ $(($1 % 4)) = 2 ]; then
    kill -9 "$(pgrep -f "^$PROGRAM sweep .*--shard $1/$shards .*--out $folder/out ")"
  else
    scontrol requeue "${array}_$1"
  fi
  echo "shard $1 was $([ $(($1 % 4)) = 2 ] && echo killed || echo requeued) after $(points_stored "$(shard_database "$1")") points"
}
shard_database() { echo "$folder/out/shards/$1-of-$shards.sqlite"; }

"$HEADROOM" sweep "$folder/shards.toml" --dry-run --out "$folder/out"
[ -z "$own_slurm" ] || start_slurm "$own_slurm" "$(nproc)"
start=$SECONDS
read -r array merge < <("$here/../examples/slurm/submit.sh" "$folder/shards.toml" "$shards" "$folder/out" --cpus-per-task=1)
# Shards are struck between a tenth and a half of their points.
is_due() { [ "${stored:-0}" -gt $((points / shards * ($1 % 5 + 1) / 10)) ]; }
waiting=()
for k in $(seq "$shards"); do [ $((k % 4)) -lt 2 ] || waiting+=("$k"); done
while [ -n "$(squeue -h -j "$array,$merge" 2>/dev/null)" ]; do
  left=()
  for k in "${waiting[@]}"; do
    stored=$(points_stored "$(shard_database "$k")")
    if is_due "$k"; then strike "$k"; else left+=("$k"); fi
  done
  waiting=("${left[@]}")
  start_requeued "$array"
  sleep 0.1
done
echo "array and merge took $((SECONDS - start)) s by the clock"
cat "$folder"/out/merge.log
for k in $(seq "$shards"); do
  [ $((k % 4)) -lt 2 ] || grep -q '"event":"resumed"' "$folder/out/shard-$k.log"
done

"${PROGRAM%/*}/bench/bench_grid" "$folder/shards.toml" "$(nproc)" "$folder/out/results.sqlite" >"$folder/sums.txt"
head -2 "$folder/sums.txt"
python3 -B "$here/shards_check.py" "$PROGRAM" "$folder/out/results.sqlite" "$folder/sums.txt"
# Small grids are swept without shards too: every row is the same.
if [ "$points" -le 10000000 ]; then
  rows() { sqlite3 "file:$1?mode=ro" 'SELECT * FROM outcome ORDER BY id'; }
  "$HEADROOM" sweep "$folder/shards.toml" --out "$folder/whole"
  cmp <(rows "$folder/whole/results.sqlite") <(rows "$folder/out/results.sqlite")
  cmp "$folder/whole/compatibility.csv" "$folder/out/compatibility.csv"
  echo "rows and tables are those of the sweep without shards"
fi
python3 - "$MEASURED" "$points" "$folder/out" <<'END'
import json, pathlib, sys

runs = [json.loads(line) for line in open(sys.argv[1])]
points, out = int(sys.argv[2]), pathlib.Path(sys.argv[3])
print("| stage | processes | CPU s | CPU µs a point | longest, s by the clock | peak memory, MiB |\n|---|---:|---:|---:|---:|---:|")
stages = {"dry run": lambda r: r["command"] == "sweep" and r["wall_s"] == runs[0]["wall_s"],
          "shards": lambda r: r["shard"] != "", "merge": lambda r: r["command"] == "merge"}
for name, belongs in stages.items():
    these = [r for r in runs if belongs(r)]
    cpu = sum(r["cpu_s"] for r in these)
    print(f"| {name} | {len(these)} | {cpu:.1f} | {cpu / points * 1e6:.2f} | {max(r['wall_s'] for r in these):.1f} "
          f"| {max(r['peak_mib'] for r in these):.0f} |")
size = sum(f.stat().st_size for f in (out / "shards").glob("*.sqlite"))
merged = (out / "results.sqlite").stat().st_size
print(f"shards {size / points:.1f} bytes a point, merged {merged / points:.1f}")
END
