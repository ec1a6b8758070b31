#!/usr/bin/env python3
"""Cost of a point as the grid grows: a table and a plot.

    bench/scale.py [build/release] [--evaluated N] [--stored N] [--out FOLDER]

Grids from 10^3 to N points, 2 models x 2 precisions x 2 runtimes x 5 contexts x 25 GPU budgets x
batches. Stored: `headroom sweep --shard 1/1`, a database and no other report. Wall-clock seconds are
those that the program reports. CPU seconds and peak memory are the process's, and bytes are the
file's. Evaluated: bench_grid, with equal blocks and threads but no writer. It adds up every outcome
instead, and its sums must be equal for one thread and two. Each grid of up to a million points is run
three times, and the fastest counts. Writes scale.md, scale.dat, scale.gp, scale.svg and scale.png
(gnuplot) into FOLDER, the current one by default. The clock is worth looking at only on a machine that
does nothing else; CPU time bears neighbours better.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

SPEC = """[run]
name = "scale"
[[grid]]
models = ["meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b"]
precisions = ["bf16", "fp16"]
runtimes = ["transformers", "llama.cpp"]
contexts = "1024-16384*2"
batches = "1-{}+1"
machines = ["rtx-4090"]
gpu_budgets = ["0-24GiB+1GiB"]
[report]
plots = false
"""
PLOT = """set terminal {terminal} size 900,520 font 'sans,12' background '#ffffff'
set output '{output}'
set encoding utf8
set title 'Cost of a point against the size of the grid'
set logscale xy
set xlabel 'points'
set ylabel 'microseconds a point, by the clock'
set format x '10^{{%L}}'
set yrange [0.1:100]
set grid xtics ytics lc rgb '#dddddd' lt 1
set border 3
set tics nomirror out
set key outside below
plot 'scale.dat' using 1:($2*1e6) with linespoints lc rgb '#0072B2' lw 2 pt 7 title 'evaluated, one thread', \\
     '' using 1:($3*1e6) with linespoints lc rgb '#D55E00' lw 2 pt 5 title 'evaluated, two threads', \\
     '' using 1:($4*1e6) with linespoints lc rgb '#009E73' lw 2 pt 9 title 'evaluated and stored, two threads'
"""


def evaluated(program, spec, threads):
    """Points, seconds by the clock, CPU seconds and the sum of outcomes."""
    said = subprocess.run([program, spec, str(threads)], check=True, capture_output=True, text=True).stdout.split()
    return int(said[0]), float(said[1]), float(said[2]), said[3]


def stored(program, spec, folder):
    """Seconds to evaluate and store, CPU seconds, peak memory in MiB, bytes of the database."""
    command = [program, "sweep", spec, "--jobs", "2", "--shard", "1/1", "--out", folder, "--log-format", "json"]
    said = subprocess.run(["/usr/bin/env", "python3", "-c", MEASURED, *map(str, command)], check=True, capture_output=True, text=True)
    seconds, cpu, memory = json.loads(said.stdout.splitlines()[-1])
    return seconds, cpu, memory, pathlib.Path(folder, "shards", "1-of-1.sqlite").stat().st_size


# A process of its own, so that its peak memory is that of one sweep.
MEASURED = """
import json, resource, subprocess, sys
said = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout
run = json.loads(said.splitlines()[-1])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([run["seconds"], used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", default=str(pathlib.Path(__file__).resolve().parents[1] / "build/release"))
    options.add_argument("--evaluated", type=int, default=8, help="10^N points at the most")
    options.add_argument("--stored", type=int, default=7)
    options.add_argument("--out", default=".")
    given = options.parse_args()
    build, out = pathlib.Path(given.build), pathlib.Path(given.out)
    table = [
        "| points | evaluated, 1 thread | 2 threads | 1 : 2 | CPU a point, 1 and 2 threads | stored, 2 threads | CPU a point | bytes a point | memory |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    data = ["# points, then seconds a point: evaluated by one thread, by two, evaluated and stored"]
    for power in range(3, given.evaluated + 1):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "scale.toml")
            spec.write_text(SPEC.format(10 ** (power - 3)))
            times = 3 if power <= 6 else 1
            one = min((evaluated(build / "bench/bench_grid", spec, 1) for _ in range(times)), key=lambda r: r[1])
            two = min((evaluated(build / "bench/bench_grid", spec, 2) for _ in range(times)), key=lambda r: r[1])
            if one[3] != two[3]:
                raise SystemExit(f"10^{power}: one thread adds up to {one[3]}, two to {two[3]}")
            points = one[0]
            row = [f"10^{power}", f"{one[1] / points * 1e6:.2f} µs", f"{two[1] / points * 1e6:.2f} µs", f"{one[1] / two[1]:.2f}",
                   f"{one[2] / points * 1e6:.2f}, {two[2] / points * 1e6:.2f} µs"]
            store = "NaN"
            if power <= given.stored:
                seconds, cpu, memory, size = min(
                    (stored(build / "headroom", spec, pathlib.Path(folder, str(i))) for i in range(times)), key=lambda r: r[0]
                )
                store = seconds / points
                row += [f"{store * 1e6:.2f} µs", f"{cpu / points * 1e6:.2f} µs", f"{size / points:.0f}", f"{memory:.0f} MiB"]
            else:
                row += ["", "", "", ""]
        table.append("| " + " | ".join(row) + " |")
        data.append(f"{points} {one[1] / points} {two[1] / points} {store}")
        print(table[-1], flush=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / "scale.md").write_text("\n".join(table) + "\n")
    (out / "scale.dat").write_text("\n".join(data) + "\n")
    script = "".join(PLOT.format(terminal=t, output=f"scale.{k}") + "unset output\nreset\n" for t, k in (("svg", "svg"), ("pngcairo", "png")))
    (out / "scale.gp").write_text(script)
    subprocess.run(["gnuplot", "scale.gp"], cwd=out, check=True)


if __name__ == "__main__":
    main()
