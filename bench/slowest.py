#!/usr/bin/env python3
"""The slowest models of the catalogue: CPU seconds of whole processes, the median of a few runs each.

usage: slowest.py [--headroom PROGRAM] [--machine NAME] [--runs N] [--rows N] [MODEL...]

Prints the median of all models, and the slowest ones, for `params`, `estimate` and `place`. A model may be a file.
The time that the processor works counts, so other work on the machine disturbs little.
"""
import argparse
import os
import statistics
import subprocess

COMMANDS = {"params": [], "estimate": ["--machine"], "place": ["--machine"]}


def seconds(arguments):
    """CPU time of one process, and its exit code."""
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    return used.ru_utime + used.ru_stime, os.waitstatus_to_exitcode(status)


def catalogue(program):
    lines = subprocess.run([program, "models", "list", "--format", "csv"], stdout=subprocess.PIPE, check=True, text=True).stdout
    return [line.split(",")[0] for line in lines.splitlines()[1:]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--headroom", default="build/release/headroom")
    parser.add_argument("--machine", default="2x rtx-4090")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("models", nargs="*")
    given = parser.parse_args()
    models = given.models or catalogue(given.headroom)
    for command, options in COMMANDS.items():
        took = []
        for model in models:
            arguments = [given.headroom, command, model] + [word for o in options for word in (o, given.machine)]
            runs = [seconds(arguments) for _ in range(given.runs)]
            took.append((statistics.median(time for time, _ in runs), runs[0][1], model))
        took.sort(reverse=True)
        print(f"{command}: {len(models)} models, median {1000 * statistics.median(t for t, _, _ in took):.1f} ms")
        for time, code, model in took[:given.rows]:
            print(f"  {1000 * time:8.1f} ms  {model}" + ("" if code in (0, 3) else f"  (exit code {code})"))


if __name__ == "__main__":
    main()
