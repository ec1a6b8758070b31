#!/usr/bin/env bash
# Writes ACCURACY.md and accuracy.json anew with the program given (build/release/headroom).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=$(realpath "${1:-build/release/headroom}")
python3 tests/accuracy/normalise/check.py "$program" --write
cd tests/accuracy
"$program" accuracy canonical/*.csv --leave-one-out --format md --out ACCURACY.md
"$program" accuracy canonical/*.csv --format json --out accuracy.json
