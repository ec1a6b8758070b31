#!/usr/bin/env bash
# Installs what is missing, builds and runs all tests.
#   --all   also: every example, sanitizer builds, format and tidy checks, seconds of fuzzing. This
#           is what .ci/run does.
#   --long  also: the tests that take long, a batch job for a real Slurm, llama.cpp's own figures
#           (which builds it), the engines' own parsers (which installs them); with --all, tidy on
#           every file
# Exit code 0: everything passed. The last line counts tests and checks. With ccache a second run
# takes minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/packages.sh

all=no long=no
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --long) long=yes ;;
    *)
      echo "usage: tests/run.sh [--all] [--long]" >&2
      exit 2
      ;;
  esac
done

passed=0 failed=0

# phase NAME: what begins now, and after how many seconds.
phase() { echo "== $1 (after $SECONDS s)"; }

# run_tests PRESET [OPTION...]: a build and its tests; adds ctest's own count to ours.
run_tests() {
  local preset=$1 log count
  shift
  log=build/$preset/tests.log
  phase "$preset"
  cmake --preset "$preset" >"build/$preset.configure.log" 2>&1 || { cat "build/$preset.configure.log"; return 1; }
  cmake --build --preset "$preset" | fold_progress || return 1
  ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" "$@" </dev/null >"$log" 2>&1 || true
  grep -v ' Passed  *[0-9.]* sec$\|^ *Start ' "$log" || true
  count=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log")
  [ -n "$count" ] || return 1
  read -r bad total <<<"$count"
  failed=$((failed + bad)) passed=$((passed + total - bad))
}

# Removes progress lines from ninja's output.
fold_progress() { grep -v '^\[[0-9]*/[0-9]*\] \|^ninja: \|^-- ' || true; }

# check NAME COMMAND...: one more thing that passes or fails.
check() {
  local name=$1
  shift
  phase "$name"
  if "$@" </dev/null; then passed=$((passed + 1)); else
    echo "failed: $name"
    failed=$((failed + 1))
  fi
}

mkdir -p build
groups=(build)
[ $all = no ] || groups+=(check)
[ $long = no ] || groups+=(long)
install_packages "${groups[@]}"
[ $all = no ] || get_probe_python

[ $all = no ] || check format tests/format.sh
exclude=^none$
[ $all = yes ] || exclude+='|^example$'
[ $long = yes ] || exclude+='|^long$'
run_tests release --label-exclude "$exclude" || failed=$((failed + 1))
[ $long = no ] || check slurm tests/slurm.sh build/release/headroom
[ $long = no ] || check llama.cpp python3 -B tests/llama_cpp/judge.py build/release/headroom
[ $long = no ] || check engines python3 -B tests/engines/judge.py build/release/headroom
[ $long = no ] || check unattended tests/unattended.sh build/release/headroom
if [ $all = yes ]; then
  # Tests that repeat seconds of the same work: lists over the catalogue, processes that are killed.
  # Portfolio.*, Plan.* and other cases of curve and plan run that code.
  repeated='^(Crash|SweepProcess|OneAnswer)\.|^page$|OfEveryFlag/(curve|plan)|plan portfolio'
  repeated+='|curve --all|plan --machine|plan largest-model|largest-model "largest-batch'
  run_tests asan --label-exclude "$exclude|^example$|^script$" --exclude-regex "$repeated" || failed=$((failed + 1))
  run_tests tsan --label-regex '^threads$' || failed=$((failed + 1))
  check tidy tests/tidy.sh $([ $long = yes ] && echo --every-file)
  check fuzz tests/fuzz/run.sh 5
fi
phase end
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
