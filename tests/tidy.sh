#!/usr/bin/env bash
# Runs clang-tidy on the source files that changed last: tests/tidy.sh [MOST]
#   MOST          at most so many files, the newest changes first: 24
#   --every-file  all files
# A change is what is not committed, and all commits since the merge base with origin/main. If HEAD
# is origin/main, as in a fresh clone, the last 30 commits count instead. A changed header counts as
# a change of the source file of the same name.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

changed_files() {
  local base range=(-n 30)
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  [ "$base" = "$(git rev-parse HEAD)" ] || range=("$base..HEAD")
  git ls-files -m -o --exclude-standard
  git log --format= --name-only "${range[@]}"
}

# Prints the existing source files among the paths on standard input, each once. The examples are
# built against an installed package, tests/llama_cpp and tests/engines against llama.cpp, which
# clang-tidy lacks.
source_files() {
  sed -n '/^examples\//d; /^tests\/\(llama_cpp\|engines\)\//d; s/\.hpp$/.cpp/; /\.cpp$/p' | awk '!seen[$0]++' |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}

most=${1:-24}
if [ "$most" = --every-file ]; then
  files=$(git ls-files '*.cpp' | source_files)
else
  all=$(changed_files | source_files)
  files=$(sed "${most}q" <<<"$all")
  [ "$files" = "$all" ] || echo "checked: $most of $(wc -l <<<"$all") changed files, the newest"
fi
[ -n "$files" ] || { echo "no source file was changed"; exit 0; }

# A build folder of its own, never built: clang cannot read the other compiler's precompiled headers.
cmake -S . -B build/tidy -G Ninja -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >build/tidy.configure.log
xargs -n 1 -P "$(nproc)" clang-tidy-16 --quiet -p build/tidy <<<"$files" 2> >(grep -v 'warnings generated' >&2 || true)
