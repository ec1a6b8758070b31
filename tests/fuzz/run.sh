#!/usr/bin/env bash
# Builds the fuzz targets with clang and runs each: tests/fuzz/run.sh [SECONDS [TARGET...]]
# What they find is kept below build/fuzz/found; the last lines count executions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:-10}
shift || true
targets=("${@:-safetensors index gguf config toml}")
read -ra targets <<<"${targets[*]}"

sanitize="-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
[ -f build/fuzz/build.ninja ] ||
  cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_C_COMPILER=clang-16 \
    -DCMAKE_ASM_COMPILER=clang-16 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$sanitize" \
    -DHEADROOM_FUZZ=ON -DHEADROOM_BENCH=OFF -DGNUPLOT_IOSTREAM_INCLUDE=/usr/include >build/fuzz.configure.log 2>&1 ||
  { cat build/fuzz.configure.log; exit 1; }
cmake --build build/fuzz --target "${targets[@]/#/fuzz_}" | grep -v '^\[' || true

declare -A seeds=([config]=model/catalogue [toml]=hardware/catalogue)
failed=0
for target in "${targets[@]}"; do
  mkdir -p "build/fuzz/corpus/$target" "build/fuzz/found/$target"
  log=build/fuzz/$target.log
  if "build/fuzz/tests/fuzz/fuzz_$target" "build/fuzz/corpus/$target" \
    "${seeds[$target]:-tests/fuzz/corpus/$target}" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="build/fuzz/found/$target/" \
    -print_final_stats=1 >"$log" 2>&1; then
    echo "$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") executions, nothing found"
  else
    tail -30 "$log"
    echo "$target: FAILED, see build/fuzz/found/$target"
    failed=1
  fi
done
exit $failed
