#!/usr/bin/env python3
"""Runs a command, and appends its cost to the file that MEASURED names: a JSON object a line.

    MEASURED=costs.jsonl PROGRAM=build/release/headroom bench/measured.py ARGUMENT...

Ends as the program does: with its exit code, or 128 and the number of the signal. A polite kill is
the program's to answer.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time

signal.signal(signal.SIGTERM, lambda *_: None)
start = time.perf_counter()
code = subprocess.run([os.environ["PROGRAM"], *sys.argv[1:]]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
cost = {
    "command": sys.argv[1],
    "shard": sys.argv[sys.argv.index("--shard") + 1] if "--shard" in sys.argv else "",
    "wall_s": round(time.perf_counter() - start, 3),
    "cpu_s": round(used.ru_utime + used.ru_stime, 3),
    "peak_mib": round(used.ru_maxrss / 1024, 1),
    "code": code,
}
with open(os.environ["MEASURED"], "a") as out:
    out.write(json.dumps(cost) + "\n")
sys.exit(code if code >= 0 else 128 - code)
