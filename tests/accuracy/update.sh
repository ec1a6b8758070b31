#!/usr/bin/env bash
# Writes canonical/, ACCURACY.md and accuracy.json anew with the programs of a build folder
# (build/release): headroom, and headroom_fit for rows that are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
python3 tests/accuracy/normalise/check.py "$build/headroom" --write
cd tests/accuracy
"$build/bench/fit/headroom_fit" --page . canonical/*.csv
