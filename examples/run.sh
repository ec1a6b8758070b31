#!/usr/bin/env bash
# Installs what is missing, builds the program and runs examples/nightly.toml into out/nightly/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/packages.sh
install_packages build

cmake --preset release >/dev/null
cmake --build --preset release --target headroom
build/release/headroom sweep examples/nightly.toml

cat <<END

Where to look:
  out/nightly/index.html         everything on one page, to sort and to filter
  out/nightly/README.md          everything below, linked
  out/nightly/compatibility.md   which model runs how, precision by precision
  out/nightly/precision.md       precisions side by side
  out/nightly/curves/            curves of speed against GPU allocation
  out/nightly/results.csv        every point
  sqlite3 out/nightly/results.sqlite 'SELECT model, precision, verdict, tokens_s FROM result LIMIT 20'
END
