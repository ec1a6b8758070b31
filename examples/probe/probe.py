#!/usr/bin/env python3
"""Gives a model a little more GPU memory each time, and measures what that buys.

    probe.py run MODEL [options]       measure; one row a run is added to probe.csv
    probe.py compare probe.csv …       measured points over headroom's predicted curve

MODEL is a config.json (random weights are made from it, nothing is downloaded) or a folder with
weights. Every run is a process of its own, so that running out of memory ends that run alone; it is
marked in the row. A run whose row is there already is left out: the same command goes on where it
stopped. Needs torch and transformers, for GPUs accelerate too. README.md says what was tried.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

from one_run import run_one

VERSION = 1
COLUMNS = (
    "probe_version task model weights precision transformers torch accelerate gpu gpu_count "
    "gpu_memory_bytes cpu ram_bytes allocation_bytes batch prompt_tokens output_tokens status load_s "
    "ttft_s tokens_s total_s allocated_bytes reserved_bytes layers_gpu layers_cpu layers_disk "
    "device_map repeats started error"
).split()
IDENTITY = "task model weights precision gpu allocation_bytes batch prompt_tokens output_tokens".split()
GIB = 1 << 30
MISSING = 3  # exit code: a package or program is not installed


def amount(text):
    """Bytes of "6GiB", "8GB" or "0"."""
    units = {"GiB": GIB, "MiB": 1 << 20, "GB": 10**9, "MB": 10**6}
    for unit, scale in units.items():
        if text.endswith(unit):
            return int(float(text[: -len(unit)]) * scale)
    if text == "0":
        return 0
    raise argparse.ArgumentTypeError(f"found '{text}', expected an amount such as 6GiB or 8GB")


def cpu_name():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return "unknown"


def versions():
    import importlib.metadata as metadata

    def version(package):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            return ""

    return {name: version(name) for name in ("transformers", "torch", "accelerate")}


def machine(device):
    info = {"gpu": "", "gpu_count": 0, "gpu_memory_bytes": "", "cpu": cpu_name(),
            "ram_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")}
    if device == "cuda":
        import torch

        if not torch.cuda.is_available():
            sys.exit("probe: --device cuda, and torch sees no GPU; --device cpu runs without one")
        properties = torch.cuda.get_device_properties(0)
        info |= {"gpu": properties.name, "gpu_count": torch.cuda.device_count(),
                 "gpu_memory_bytes": properties.total_memory}
    return info


def key(row):
    return tuple(str(row[name]) for name in IDENTITY)


def rows_of(file):
    if not pathlib.Path(file).exists():
        return []
    with open(file, newline="") as f:
        reader = csv.DictReader(f)
        if reader.fieldnames != COLUMNS:
            sys.exit(f"probe: {file} has other columns than this probe writes; give another --out")
        return list(reader)


def add_row(file, row):
    fresh = not pathlib.Path(file).exists()
    with open(file, "a", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS)
        if fresh:
            writer.writeheader()
        writer.writerow({name: row.get(name, "") for name in COLUMNS})


def program(command, option="", **how):
    try:
        return subprocess.run(command, text=True, **how)
    except FileNotFoundError:
        print(f"probe: no program '{command[0]}'{option}", file=sys.stderr)
        sys.exit(MISSING)


def predicted(args, extra=(), what="curve"):
    command = [args.headroom, what, args.config_or_name, "--machine", args.machine, "--format", "csv",
               "--batch", str(args.batches[0]), "--prompt-tokens", str(args.prompt_tokens),
               "--output-tokens", str(args.output_tokens), "--precision", args.precision,
               "--runtime", "transformers", *extra]
    found = program(command, "; --headroom says where it is", capture_output=True)
    if found.returncode not in (0, 3):
        sys.exit(f"probe: {' '.join(command)}: {found.stderr.strip()}")
    return list(csv.DictReader(found.stdout.splitlines()))


def run(args):
    path = pathlib.Path(args.model)
    if not path.exists():
        sys.exit(f"probe: {path}: no such config.json or folder")
    weights = "random" if path.is_file() else "real"
    args.config_or_name = str(path)
    name = args.name or (path.stem if path.is_file() and path.stem != "config" else path.absolute().name)
    if args.estimate_only:
        on_cpu = args.device == "cpu"
        rows = predicted(args, ["--gpu-budget", "0"], "estimate") if on_cpu else predicted(args)
        for row in rows:
            print(f"{int(row['gpu_budget_bytes']) / GIB:8.2f} GiB  {row['tokens_s']:>10.6} tokens/s  "
                  f"first token {row['ttft_s']:.6} s  load {row['load_s']:.6} s  {row.get('layers', 'cpu')}")
        return
    here = machine(args.device)
    folder = pathlib.Path(args.folder or f"probe-{name}-{args.precision}") if weights == "random" else path
    common = {"probe_version": VERSION, "task": args.task, "model": name, "weights": weights,
              "precision": args.precision, "prompt_tokens": args.prompt_tokens,
              "output_tokens": args.output_tokens, "repeats": args.repeats} | versions() | here
    known = {key(row) for row in rows_of(args.out)}
    for allocation in args.allocations if here["gpu_count"] else [0]:
        for batch in args.batches:
            row = common | {"allocation_bytes": allocation, "batch": batch}
            if key(row) in known:
                print(f"{allocation / GIB:.2f} GiB, batch {batch}: there already", file=sys.stderr)
                continue
            task = row | {"config": str(path), "folder": str(folder), "device": args.device,
                          "offload": args.offload_folder, "cpu_bytes": args.cpu_memory or here["ram_bytes"],
                          "warmup": args.warmup}
            row["started"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            done = subprocess.run([sys.executable, __file__, "one", json.dumps(task)],
                                  stdout=subprocess.PIPE, text=True)
            if done.returncode == MISSING:
                sys.exit(MISSING)  # said already; no row, so that the run is tried again
            answer = [line for line in done.stdout.splitlines() if line.startswith("PROBE ")]
            # The kernel's killer leaves no answer: the host's memory was not enough.
            row |= json.loads(answer[-1][6:]) if answer else {
                "status": "oom" if done.returncode == -9 else "error", "error": f"exit {done.returncode}"}
            add_row(args.out, row)
            speed = f"{row['tokens_s']:.3g} tokens/s" if "tokens_s" in row else row.get("error", "")
            print(f"{allocation / GIB:.2f} GiB, batch {batch}: {row['status']} {speed}", file=sys.stderr)


# ---- measured over predicted ----------------------------------------------------------------------


def compare(args):
    measured = [row for row in rows_of(args.file) if row["status"] == "ok" and row["task"] == "inference"
                and row["allocation_bytes"] != "0" or row["status"] == "oom"]
    if not measured:
        sys.exit(f"probe: {args.file} has no measured allocations of a GPU to compare")
    first = measured[0]
    args.config_or_name, args.batches = args.model or first["model"], [int(first["batch"])]
    args.prompt_tokens, args.output_tokens = int(first["prompt_tokens"]), int(first["output_tokens"])
    args.precision = first["precision"]
    curve = predicted(args, ["--factors", args.factors] if args.factors else [])
    stem = pathlib.Path(args.out)
    with open(stem.with_suffix(".dat"), "w") as f:
        f.write("# predicted: weights' share of the allocation (GiB), tokens/s, low, high\n")
        held = ""  # values of a point hold up to the next point
        for row in curve:
            if row["tokens_s"] and row["max_memory_bytes"]:
                at = int(row["max_memory_bytes"]) / GIB
                f.write(f"{at} {held}\n" if held else "")
                held = f"{row['tokens_s']} {row['tokens_s_low']} {row['tokens_s_high']}"
                f.write(f"{at} {held}\n")
        f.write("\n\n# measured: max_memory (GiB), tokens/s\n")
        for row in measured:
            if row["tokens_s"] and row["batch"] == first["batch"]:
                f.write(f"{int(row['allocation_bytes']) / GIB} {row['tokens_s']}\n")
        lowest = min((float(row["tokens_s_low"]) for row in curve if row["tokens_s_low"]), default=1)
        f.write("\n\n# out of memory: max_memory (GiB), at the foot of the figure\n")
        for row in measured:
            if row["status"] == "oom" and row["batch"] == first["batch"]:
                f.write(f"{int(row['allocation_bytes']) / GIB} {lowest}\n")
        f.write("NaN NaN\n")
    with open(stem.with_suffix(".gp"), "w") as f:
        f.write(f"""set terminal pngcairo noenhanced size 900,500 background '#ffffff'
set output '{stem.with_suffix('.png')}'
set title '{first['model']} in {first['precision']} on {first['gpu']}, batch {first['batch']}'
set xlabel 'max_memory of each GPU (GiB)'
set ylabel 'output tokens/s'
set logscale y
set key left top
plot '{stem.with_suffix('.dat')}' index 0 using 1:3:4 with filledcurves lc rgb '#0072B2' \
fs transparent solid 0.15 noborder title '80 % interval', '' index 0 using 1:2 with lines lw 2 \
lc rgb '#0072B2' title 'predicted', '' index 1 using 1:2 with points pt 7 ps 1.4 lc rgb '#D55E00' title 'measured', '' index 2 using 1:2 with points pt 2 ps 1.4 lw 2 \
lc rgb '#D55E00' title 'out of memory'
""")
    program(["gnuplot", str(stem.with_suffix(".gp"))], check=True)
    print(stem.with_suffix(".png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("one")
    one.add_argument("task")
    one.set_defaults(action=lambda args: run_one(args.task))
    p = commands.add_parser("run", help="measure")
    p.add_argument("model", help="a config.json (random weights) or a folder with weights")
    p.add_argument("--name", help="what the model is called in the rows (the file's or folder's name)")
    p.add_argument("--task", choices=["inference", "training"], default="inference")
    p.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    p.add_argument("--allocations", type=amount, nargs="+", default=[i * GIB for i in range(1, 9)],
                   help="max_memory of each GPU: 1GiB 2GiB … (1 to 8 GiB)")
    p.add_argument("--cpu-memory", type=amount, help="max_memory of the CPU (all)")
    p.add_argument("--batches", type=int, nargs="+", default=[1])
    p.add_argument("--prompt-tokens", type=int, default=512, help="of training: the sequence")
    p.add_argument("--output-tokens", type=int, default=32)
    p.add_argument("--precision", choices=["bf16", "fp16", "fp32"], default="bf16")
    p.add_argument("--warmup", type=int, default=1)
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--folder", help="where random weights are kept (probe-MODEL-PRECISION)")
    p.add_argument("--offload-folder", default="probe-offload")
    p.add_argument("--out", default="probe.csv")
    p.add_argument("--estimate-only", action="store_true", help="headroom's prediction, nothing is run")
    p.add_argument("--headroom", default="headroom")
    p.add_argument("--machine", default="local", help="for --estimate-only")
    p.set_defaults(action=run)
    c = commands.add_parser("compare", help="measured points over the predicted curve")
    c.add_argument("file")
    c.add_argument("--machine", default="local")
    c.add_argument("--model", help="as headroom knows it (the rows' name)")
    c.add_argument("--factors", help="a profile of headroom calibrate")
    c.add_argument("--headroom", default="headroom")
    c.add_argument("--out", default="compare", help="stem of the .dat, .gp and .png")
    c.set_defaults(action=compare)
    args = parser.parse_args()
    if min(getattr(args, "batches", [1])) < 1 or getattr(args, "output_tokens", 2) < 2:
        parser.error("batches start at 1, output tokens at 2")
    try:
        args.action(args)
    except ImportError as error:
        print(f"probe: {error}: pip install {error.name or 'it'}; nothing was stored", file=sys.stderr)
        sys.exit(MISSING)


if __name__ == "__main__":
    main()
