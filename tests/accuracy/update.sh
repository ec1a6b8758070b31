#!/usr/bin/env bash
# Writes ACCURACY.md and accuracy.json anew with the program given (build/release/headroom).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
program=$(realpath "${1:-build/release/headroom}")
cd tests/accuracy
"$program" accuracy ./*.csv --leave-one-out --format md --out ACCURACY.md
"$program" accuracy ./*.csv --format json --out accuracy.json
