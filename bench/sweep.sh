#!/usr/bin/env bash
# Evaluates and stores a large grid. Prints points per second with one thread and with all, and the
# peak memory, which must not grow with the grid.
#   bench/sweep.sh [MILLIONS]   about that many million points, 10 by default
set -euo pipefail
program=${HEADROOM:-$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../build/release/headroom}
millions=${1:-10}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# 2 models x 2 precisions x 2 runtimes x 5 contexts x 25 budgets x batches: 1000 points a batch.
cat >large.toml <<END
[run]
name = "large"
[[grid]]
models = ["meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b"]
precisions = ["bf16", "fp16"]
runtimes = ["transformers", "llama.cpp"]
contexts = "1024-16384*2"
batches = "1-${millions}000+1"
machines = ["rtx-4090"]
gpu_budgets = ["0-24GiB+1GiB"]
END

measure() {  # LABEL OPTION...
  local label=$1
  shift
  rm -rf out
  python3 - "$label" "$program" sweep large.toml "$@" <<'END'
import re, resource, subprocess, sys, time
label, command = sys.argv[1], sys.argv[2:]
start = time.perf_counter()
done = subprocess.run(command, check=True, capture_output=True, text=True)
wall = time.perf_counter() - start
points, stored = re.search(r"([\d,]+) points in .*?\(([\d.e+]+) points/s\)", done.stdout + done.stderr).groups()
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{label:12} {points:>11} points  evaluated and stored: {float(stored):>8.0f} points/s  "
      f"whole process, CSV and tables too: {wall:6.1f} s wall, {usage.ru_utime + usage.ru_stime:6.1f} s CPU, "
      f"peak {usage.ru_maxrss / 1024:5.1f} MiB")
END
}
measure "one thread" --jobs 1
measure "all threads"
