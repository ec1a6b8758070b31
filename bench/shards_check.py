#!/usr/bin/env python3
"""Checks a merged database in plain SQL and against single estimates. Exit code 1: it is wrong.

    bench/shards_check.py PROGRAM DATABASE SUMS [SAMPLES]

SUMS has what bench_grid prints of a comparison. Numbers of points have no gap, and whole numbers add
up to the sums of evaluation without shards. SAMPLES random points are computed by `estimate`, and
every column that it prints is as in the view `result`.
"""

import csv
import io
import random
import sqlite3
import subprocess
import sys

LOW_BITS = 0x7FFFFFFF
ANSWER_IS_NO = 3
POINT_BITS = (1 << 40) - 1
# The spec names machines without a host, and so do the commands: memory that is stated counts otherwise.
OPTIONS = {"precision": "precision", "runtime": "runtime", "machine": "machine", "batch": "batch",
           "prompt_tokens": "prompt-tokens", "output_tokens": "output-tokens"}
# A budget's form as the spec has it, which a number of bytes has not.
NOT_COMPARED = {"gpu_budget_relative"}


def complain(words):
    raise SystemExit(f"shards_check.py: {words}")


def check_sums(database, lines):
    points = int(lines[0].split()[0])
    tables = {}
    for line in lines[2:]:
        table, column, value = line.split()
        tables.setdefault(table, []).append((column, int(value)))
    for table, sums in tables.items():
        columns = ", ".join(f"coalesce(sum({column} & {LOW_BITS}), 0)" for column, _ in sums)
        query = f"SELECT count(*), min(id & {POINT_BITS}), max(id & {POINT_BITS}), count(DISTINCT id >> 40), {columns} FROM {table}"
        rows, first, last, runs, *found = database.execute(query).fetchone()
        if table == "outcome" and (rows, first, last, runs) != (points, 0, points - 1, 1):
            complain(f"{rows} rows of {runs} runs from {first} to {last}, where {points} of one run are expected")
        for (column, expected), value in zip(sums, found):
            if value != expected:
                complain(f"{table}.{column} adds up to {value}, evaluated without shards to {expected}")
    print(f"{points:,} points without a gap or a duplicate; {sum(map(len, tables.values()))} columns add up to the same")


def equal(stored, printed):
    if stored is None or printed == "":
        return stored in (None, "") and printed == ""
    if isinstance(stored, str):
        return stored == printed
    return abs(float(printed) - stored) <= 1e-12 * abs(stored)


def query_of_one(database):
    """The view `result` for one row by its id. A condition on `point` would read every row."""
    view = database.execute("SELECT sql FROM sqlite_master WHERE name = 'result'").fetchone()[0]
    return view[view.index("SELECT") :] + " AND o.id = ?"


def check_samples(program, database, count):
    database.row_factory = sqlite3.Row
    run, points = database.execute("SELECT id, all_points FROM run").fetchone()
    last, query = points - 1, query_of_one(database)
    compared = 0
    for point in sorted(random.sample(range(last + 1), count - 2) + [0, last]):
        row = database.execute(query, ((run << 40) + point,)).fetchone()
        command = [program, "estimate", row["model"], "--format", "csv", "--gpu-budget", f"{row['gpu_budget_bytes']}B"]
        for column, option in OPTIONS.items():
            command += ["--" + option, str(row[column]).split(" @ ")[0]]
        said = subprocess.run(command, capture_output=True, text=True)
        if said.returncode not in (0, ANSWER_IS_NO):
            complain(said.stderr)
        printed = next(csv.DictReader(io.StringIO(said.stdout)))
        for column, value in printed.items():
            if column in row.keys() and column not in NOT_COMPARED:
                compared += 1
                if not equal(row[column], value):
                    complain(f"point {point}: {column} is {row[column]}, but {value} in {' '.join(command)}")
    print(f"{count} points by `estimate`: {compared:,} values are the same")


def main():
    program, file, sums = sys.argv[1:4]
    database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    with open(sums) as text:
        check_sums(database, text.read().splitlines())
    check_samples(program, database, int(sys.argv[4]) if len(sys.argv) > 4 else 20)


if __name__ == "__main__":
    main()
