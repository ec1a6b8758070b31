#!/usr/bin/env bash
# Fails where a source file is not formatted as .clang-format says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git ls-files -z -- '*.cpp' '*.hpp' | xargs -0 clang-format-16 --dry-run -Werror
