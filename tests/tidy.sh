#!/usr/bin/env bash
# clang-tidy on the files that the latest changes touch: since origin/main, or, where that is where
# we are, the last ten commits; at most 40 of them. `--every-file`: on all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD)
  [ "$base" != "$(git rev-parse HEAD)" ] || base=HEAD~10
  git rev-parse -q --verify "$base" >/dev/null || base=$(git hash-object -t tree /dev/null)
  git diff --name-only --diff-filter=d "$base" -- '*.cpp'
}

if [ "${1:-}" = --every-file ]; then
  files=$(git ls-files '*.cpp')
else
  files=$(changed_files | sed 40q)
fi
files=$(grep -v '^examples/' <<<"$files" || true)
[ -n "$files" ] || { echo "no source file was changed"; exit 0; }

# A build folder of its own, never built: clang cannot read the other compiler's precompiled headers.
cmake -S . -B build/tidy -G Ninja -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >build/tidy.configure.log
xargs -n 1 -P "$(nproc)" clang-tidy-16 --quiet -p build/tidy <<<"$files" 2> >(grep -v 'warnings generated' >&2 || true)
