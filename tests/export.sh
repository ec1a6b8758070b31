#!/usr/bin/env bash
# tests/export.sh PROGRAM: Parquet as examples/export/ writes it against the database, and OpenMetrics
# text against another project's parser. Both packages are installed into build/export-python. Without
# them the test fails.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
cd "$root"
. tests/packages.sh
get_export_python
python=$root/build/export-python/bin/python
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "failed: $*" >&2; exit 1; }

cat >small.toml <<'TOML'
[run]
name = "small"
[prices]
file = "prices.toml"
[[grid]]
models = ["gpt2", "meta-llama/Llama-2-70b-hf"]
runtimes = ["transformers"]
machines = ["rtx-4090", "cpu"]
gpu_budgets = ["0", "50%", "max"]
batches = "1-16*2"
[[grid]]
task = "training"
models = "gpt2"
machines = "rtx-4090"
adapters = ["full", "lora"]
TOML
cp "$root/examples/prices/example.toml" prices.toml
"$program" sweep small.toml --no-plots --csv none >/dev/null

"$root/examples/export/to_parquet.py" 2>/dev/null out/small && fail "the system's python3 has pyarrow: the test says nothing of a missing one" || true
"$python" "$root/examples/export/to_parquet.py" out/small --rows 7 >said || fail "to_parquet.py: $(cat said)"
"$python" "$root/examples/export/to_parquet.py" out/small/results.sqlite fast.parquet --where "tokens_s > 20 and model = 'openai-community/gpt2'" >/dev/null
"$python" -B - <<'PY'
import math, sqlite3
import pyarrow as pa, pyarrow.parquet as pq

database = sqlite3.connect("out/small/results.sqlite")
cursor = database.execute("SELECT * FROM result ORDER BY point")
names = [column[0] for column in cursor.description]
rows = cursor.fetchall()
file = pq.ParquetFile("out/small/results.parquet")
assert file.schema_arrow.names == names, "columns differ"
assert file.num_row_groups == math.ceil(len(rows) / 7), f"{file.num_row_groups} row groups of {len(rows)} rows"
table = file.read().sort_by("point")
assert [tuple(row.values()) for row in table.to_pylist()] == rows, "values differ"
types = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string()}
for name, unit, meaning, kind in database.execute("SELECT name, unit, meaning, type FROM column_meaning"):
    field = table.schema.field(name)
    assert field.type == types[kind], f"{name} is {field.type}"
    assert field.metadata == {b"unit": unit.encode(), b"meaning": meaning.encode()}, name
for name, kind in (("point", pa.int64()), ("gpu_bytes", pa.int64()), ("tokens_s", pa.float64()), ("model", pa.string())):
    assert table.schema.field(name).type == kind, name
assert table.schema.field("gpu_bytes").metadata[b"unit"] == b"B"
assert table.schema.metadata[b"headroom.name"] == b"small"
assert b"gpu_budgets" in table.schema.metadata[b"headroom.spec"]
assert {"50%", "max"} <= set(table["gpu_budget_relative"].to_pylist())
fast = pq.read_table("fast.parquet")
expected = database.execute("SELECT count(*) FROM result WHERE tokens_s > 20 AND model = 'openai-community/gpt2'").fetchone()[0]
assert 0 < fast.num_rows == expected < len(rows), f"{fast.num_rows} rows, expected {expected}"
PY
if "$python" "$root/examples/export/to_parquet.py" out/small bad.parquet --where "speed < 1" 2>said; then fail "an unknown column"; fi
grep -q 'no such column: speed' said || fail "an unknown column: $(cat said)"
[ -z "$(ls | grep bad)" ] || fail "half a file stays"

"$program" report out/small --format openmetrics >metrics.txt
"$python" -B - <<'PY'
import sqlite3
import prometheus_client.parser
from prometheus_client.openmetrics.parser import text_string_to_metric_families

text = open("metrics.txt").read()
families = {family.name: family for family in text_string_to_metric_families(text)}
assert all(family.type == "gauge" and family.documentation for family in families.values())
assert families["headroom_gpu_memory_bytes"].unit == "bytes"
classic = [s for family in prometheus_client.parser.text_string_to_metric_families(text) for s in family.samples]
assert len(classic) == sum(len(family.samples) for family in families.values()), "the older text format differs"
fits = {(s.labels["model"], s.labels["machine"].split(" @ ")[0]): s for s in families["headroom_fits"].samples}
assert len(fits) == 4, fits.keys()
small = fits["openai-community/gpt2", "1x rtx-4090"]
assert small.value == 1 and small.labels["runtime"] == "transformers" and small.labels["precision"]
assert fits["meta-llama/Llama-2-70b-hf", "1x rtx-4090"].value == 0
speed = next(s for s in families["headroom_output_tokens_per_second"].samples if s.labels == small.labels)
found = sqlite3.connect("out/small/results.sqlite").execute(
    "SELECT max(tokens_s) FROM result WHERE model = 'openai-community/gpt2' AND machine = ? AND batch = 1 AND task = 'inference'",
    (small.labels["machine"],)).fetchone()[0]
assert abs(speed.value / found - 1) < 1e-12, (speed.value, found)
cost = families["headroom_cost_per_million_output_tokens"].samples
assert cost and all(s.labels["currency"] and s.value > 0 for s in cost)
PY
echo "Parquet and OpenMetrics are as the database has them"
