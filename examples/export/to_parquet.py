#!/usr/bin/env python3
"""Writes a run's points as Parquet.

usage: to_parquet.py FOLDER|DATABASE [OUT.parquet] [--where SQL] [--run N] [--rows N]

Reads the views of results.sqlite and needs pyarrow (pip install pyarrow). Each column has its type, and
its unit and meaning as metadata of the field. Memory holds one row group at a time.
"""

import argparse
import os
import pathlib
import sqlite3
import sys

import pyarrow as pa
import pyarrow.parquet as pq

TYPES = {"integer": pa.int64(), "real": pa.float64(), "text": pa.string()}


def opened(path):
    """The database, read only."""
    file = path / "results.sqlite" if path.is_dir() else path
    if not file.is_file():
        sys.exit(f"{file}: no such file; expected the folder of a run, or its results.sqlite")
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)


def run_of(database, asked):
    """The run as a dictionary of texts: the last complete one, or the one that is asked for."""
    complete = "finished IS NOT NULL AND first_point = 0 AND end_point = all_points"
    chosen = "id = ?" if asked else "? IS NULL"
    row = database.execute(
        f"SELECT id, name, version, finished, spec FROM run WHERE {complete} AND {chosen} ORDER BY id DESC LIMIT 1",
        (asked,),
    ).fetchone()
    if row is None:
        sys.exit(f"run {asked} is not there or not complete" if asked else "there is no complete run")
    return dict(zip(("run", "name", "version", "finished", "spec"), map(str, row)))


def schema_of(database, run):
    """A field for each column of the view `result`, in its order."""
    fields = [
        pa.field(name, TYPES[kind], metadata={"unit": unit, "meaning": meaning})
        for name, unit, meaning, kind in database.execute("SELECT name, unit, meaning, type FROM column_meaning ORDER BY rowid")
    ]
    return pa.schema(fields, metadata={f"headroom.{key}": value for key, value in run.items()})


def write(database, run, where, rows, out):
    """Writes the points for which `where` holds, a row group at a time, and counts them."""
    schema = schema_of(database, run)
    names = ", ".join(schema.names)
    condition = f" AND ({where})" if where else ""
    points = database.execute(f"SELECT {names} FROM result_all WHERE run = ?{condition}", (int(run["run"]),))
    count = 0
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        while block := points.fetchmany(rows):
            columns = [pa.array(values, field.type) for values, field in zip(zip(*block), schema)]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=rows)
            count += len(block)
    return count


def main():
    parser = argparse.ArgumentParser(description="Writes a run's points as Parquet.")
    parser.add_argument("source", type=pathlib.Path, metavar="FOLDER|DATABASE")
    parser.add_argument("out", type=pathlib.Path, nargs="?", metavar="OUT.parquet", help="default: results.parquet beside the database")
    parser.add_argument("--where", metavar="SQL", help="only points that meet this condition over the columns of result")
    parser.add_argument("--run", type=int, metavar="N", help="default: the last complete run")
    parser.add_argument("--rows", type=int, default=65536, metavar="N", help="rows of a row group (default: 65536)")
    asked = parser.parse_args()
    if asked.rows < 1:
        parser.error("--rows: expected a number from 1")
    folder = asked.source if asked.source.is_dir() else asked.source.parent
    out = asked.out or folder / "results.parquet"
    database = opened(asked.source)
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    try:
        count = write(database, run_of(database, asked.run), asked.where, asked.rows, part)
        part.replace(out)
    except sqlite3.Error as error:
        sys.exit(f"{asked.source}: {error}")
    finally:
        part.unlink(missing_ok=True)
    print(f"{count:,} points in {out}")


if __name__ == "__main__":
    main()
