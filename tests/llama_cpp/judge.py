#!/usr/bin/env python3
"""Holds headroom's figures against those that llama.cpp itself reserves, for the GGUF headers of tests/oracle/data.

usage: judge.py HEADROOM            builds llama.cpp below build/llama.cpp, asks both and compares; writes differences.csv there
       judge.py HEADROOM --record   also writes what llama.cpp said to tests/oracle/data/llama_cpp_memory.csv

Weights and caches must be equal to the byte, but for the rows of tests/oracle/data/llama_cpp_differences.csv. Compute
buffers are not asserted, their difference is only written. Needs a network once, cmake, ninja and g++.
"""
import csv
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build
import headers

DATA = headers.ORACLE / "data"
RECORD, KNOWN = DATA / "llama_cpp_memory.csv", DATA / "llama_cpp_differences.csv"
# Tokens of a sequence, sequences, tokens of a micro-batch, rows of logits (0: all), flash attention, format of the cache.
CASES = ["4096:1:512:1:1:f16", "16384:1:512:1:1:f16", "4096:4:512:4:1:f16", "4096:1:512:0:1:f16", "4096:1:512:1:0:f16",
         "4096:1:512:1:1:q8_0"]
COLUMNS = ["archive", "file", "context", "sequences", "ubatch", "outputs", "flash", "kv", "weights_bytes", "kv_bytes", "state_bytes",
           "compute_bytes", "output_mib", "nodes", "caches"]
FIGURES = ("weights", "caches")
PRECISION = {"f16": "fp16", "q8_0": "q8_0"}


def written():
    """(archive, name, path, header) of every header, as a file that llama.cpp loads."""
    folder = build.FOLDER / "files"
    folder.mkdir(parents=True, exist_ok=True)
    for archive, name, data in headers.archived():
        header, path = headers.Judged(data), folder / f"{archive}__{name}.gguf"
        header.write(path)
        yield archive, name, path, header


def ask_llama_cpp(program, file):
    """Rows of COLUMNS, for each case that llama.cpp loads; what it refuses is said."""
    archive, name, path, _ = file
    said = subprocess.run([program, path, *CASES], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = []
    for case, line in zip(CASES, said, strict=True):
        state, *figures = line.split(",")
        if state == "loaded":
            rows.append(dict(zip(COLUMNS, [archive, name, *case.split(":"), *figures], strict=True)))
        elif case == CASES[0]:
            print(f"llama.cpp refuses {name}: {figures[0]}")
    return rows


def ask_headroom(program, row):
    """Bytes of weights, caches and activations on a machine without cards; the reason where there are none."""
    path = build.FOLDER / "files" / f"{row['archive']}__{row['file']}.gguf"
    flags = ["--runtime", "llama.cpp", "--machine", "cpu @ desktop-ddr5-64gb", "--ram", "100TB", "--precision", "auto",
             "--context", row["context"], "--batch", row["sequences"], "--kv-precision", PRECISION[row["kv"]],
             "--flash-attn", "on" if row["flash"] == "1" else "off", "--format", "json"]
    done = subprocess.run([program, "estimate", path, *flags], capture_output=True, text=True)
    if done.returncode not in (0, 3) or not done.stdout:
        return None, done.stderr.strip().split("\n")[0]
    devices = json.loads(done.stdout)["devices"]
    return [sum(each[f"{what}_bytes"] for each in devices) for what in ("weights", "kv_cache", "activations")], ""


def compared(headroom, rows, padding):
    """Lines of differences.csv, with the bytes of both."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda row: ask_headroom(headroom, row), rows))
    refusals = set()
    for row, (answer, why) in zip(rows, answers, strict=True):
        if answer is None:
            refusals.add(f"headroom refuses {row['file']}: {why}")
            continue
        theirs = [int(row["weights_bytes"]), int(row["kv_bytes"]) + int(row["state_bytes"]), int(row["compute_bytes"])]
        answer[0] += padding[row["archive"], row["file"]]
        for figure, own, other in zip((*FIGURES, "compute"), answer, theirs, strict=True):
            yield {**{name: row[name] for name in COLUMNS[:8]}, "figure": figure, "headroom_bytes": own, "llama_cpp_bytes": other,
                   "difference": own - other}
    print(*sorted(refusals), sep="\n")


def wrong(lines):
    """Differences that are not known, and known ones that are none."""
    with open(KNOWN) as file:
        known = {(row["archive"], row["file"], row["figure"]): False for row in csv.DictReader(file) if row["figure"] in FIGURES}
    found = []
    for line in lines:
        key = line["archive"], line["file"], line["figure"]
        if line["figure"] not in FIGURES or line["difference"] == 0:
            continue
        if key in known:
            known[key] = True
        else:
            found.append(f"{line['figure']} of {line['file']}, context {line['context']}, {line['sequences']} sequences: "
                         f"{line['headroom_bytes']}, llama.cpp {line['llama_cpp_bytes']}")
    return found + [f"{key}: no difference, but a row of {KNOWN.name}" for key, seen in known.items() if not seen]


def write(path, columns, rows):
    with open(path, "w", newline="") as file:
        out = csv.DictWriter(file, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def main(headroom, record):
    program, files = build.program(), list(written())
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = [row for some in pool.map(lambda file: ask_llama_cpp(program, file), files) for row in some]
    with open(RECORD) as file:
        changed = list(csv.DictReader(file)) != rows
    if record:
        write(RECORD, COLUMNS, rows)
    elif changed:
        print(f"llama.cpp says other figures than {RECORD.name}: look at the difference after judge.py --record")
    lines = list(compared(headroom, rows, {(archive, name): header.padding() for archive, name, _, header in files}))
    write(build.FOLDER / "differences.csv", list(lines[0]), lines)
    found = wrong(lines)
    print(*found, f"{len(files)} files, {len(rows)} cases, {len(found)} unknown differences", sep="\n")
    return 1 if found or (changed and not record) else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--record"]):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), len(sys.argv) == 3))
