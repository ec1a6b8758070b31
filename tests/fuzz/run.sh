#!/usr/bin/env bash
# Builds the fuzz targets with clang and runs each: tests/fuzz/run.sh [--long] [SECONDS [TARGET...]]
#   SECONDS  for each target: 5, with --long an hour
#   --long   an optimised build with every check of undefined behaviour, instead of a quick one
# Inputs that reach something new are kept below build/fuzz*/corpus and start the next run; what
# fails is kept below build/fuzz*/found. A line a target counts executions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
long=no
if [ "${1:-}" = --long ]; then
  long=yes
  shift
fi
all=(safetensors index gguf gguf_model config hardware custom spec)
if [ $long = yes ]; then
  build=build/fuzz-long seconds=${1:-3600}
  sanitize="-O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all"
else
  build=build/fuzz seconds=${1:-5}
  sanitize="-O0 -g1 -fsanitize=fuzzer-no-link,address,signed-integer-overflow,bounds -fno-sanitize-recover=all"
fi
shift || true
targets=("${@:-${all[@]}}")
[ $# -gt 0 ] || targets=("${all[@]}")

[ -f "$build/build.ninja" ] ||
  cmake -S . -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-16 -DCMAKE_ASM_COMPILER=clang-16 \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="$sanitize" -DHEADROOM_FUZZ=ON \
    -DHEADROOM_UNITY=ON -DHEADROOM_BENCH=OFF >"$build.configure.log" 2>&1 ||
  { cat "$build.configure.log"; exit 1; }
cmake --build "$build" --target "${targets[@]/#/fuzz_}" | grep -v '^\[\|^ninja: ' || true

# Seeds in addition to tests/fuzz/corpus: files that the project ships.
declare -A seeds=([config]=model/describe/catalogue [hardware]=hardware/catalogue [spec]=examples)
failed=0
for target in "${targets[@]}"; do
  kept=$build/corpus/$target found=$build/found/$target log=$build/$target.log
  mkdir -p "$kept" "$found"
  given=(${seeds[$target]:-})
  [ ! -d "tests/fuzz/corpus/$target" ] || given+=("tests/fuzz/corpus/$target")
  if "$build/tests/fuzz/fuzz_$target" "$kept" "${given[@]}" -dict=tests/fuzz/words.dict \
    -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=65536 \
    -artifact_prefix="$found/" -print_final_stats=1 >"$log" 2>&1; then
    echo "$target: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") executions, nothing found"
  else
    tail -30 "$log"
    echo "$target: FAILED, see $found"
    failed=1
  fi
done
exit $failed
