#!/usr/bin/env python3
"""Peers and headroom on the same work, one after the other on this machine: CPU time and ratios.

    bench/peers/run.py [build/release] [--without NAME]...

Installs what PyPI and the Go module proxy have of them under build/peers (accelerate brings torch: 5 GB), runs each, and prints Markdown.
No peer works out what headroom does, and the last column says what each does: read ratios as orders of magnitude.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

from environment import ROOT, go_program, python_with

HERE = pathlib.Path(__file__).resolve().parent
CATALOGUE = ROOT / "model" / "describe" / "catalogue"
MAPS = {"opt_30b": "facebook__opt-30b.json", "llama_70b": "meta-llama__Llama-3.3-70B-Instruct.json"}

# name, environment, packages, the model as headroom knows it, the card, what the peer works out
SERVING = [
    ("llm-analysis", "llm-analysis", ["llm-analysis==0.2.2"], "llama2-7b", "a100-sxm-40gb",
     "memory and times from FLOPs and bytes of a layer; no offload, no runtime's own overheads, no verdict; inference() alone"),
    ("genz", "genz", ["genz-llm==0.0.16"], "llama2-7b", "a100-sxm-40gb",
     "a roofline for each operator, in tables of pandas; prefill and decode are two calls"),
    ("aiconfigurator", "aiconfigurator", ["aiconfigurator==0.12.0"], "meta-llama/Meta-Llama-3.1-8B", "a100-sxm-80gb",
     "measured tables of kernels, interpolated, in-flight batching; cli_estimate() looks up its tables anew in each call"),
    ("aiconfigurator-sweep", "aiconfigurator", ["aiconfigurator==0.12.0"], "meta-llama/Meta-Llama-3.1-8B", "a100-sxm-80gb",
     "the same inside its search of one node, by distinct points of its grid (splits, batches, tokens)"),
]


def cpu_of(command, **given):
    """Standard output of the command, and its CPU seconds with those of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, text=True, check=True, **given)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def sweep_seconds(program, model, card):
    """CPU seconds a point of `headroom sweep` with database, results.csv and page: a large grid less a grid of one point."""

    def sweep(batches, prompts):
        spec = f'[run]\nname = "peers"\n[[grid]]\nmodels = ["{model}"]\nmachines = ["{card}"]\nruntimes = ["vllm"]\nbatches = "{batches}"\nprompt_tokens = "{prompts}"\n'
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "peers.toml")
            file.write_text(spec)
            said, seconds = cpu_of([program, "sweep", file, "--jobs", "1", "--no-plots", "--out", folder, "--log-format", "json"])
        return seconds, json.loads(said.splitlines()[-1])["points"]

    one, _ = sweep("1", "100")
    many, points = sweep("1-200", "100-2599+1")
    return (many - one) / points


def serving(program, without):
    print("Serving one model on one A100, 16 bit, memory and times of each point (batches 1 to 8, prompts 256 to 2048, 128 tokens out):\n")
    print("| peer | CPU time a point | headroom, to the page | ratio | whole process | headroom, one estimate | first token, per token: peer | headroom (vLLM) | what the peer does |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
    for name, environment, packages, model, card, does in SERVING:
        if environment in without:
            continue
        python = python_with(environment, packages)
        said, whole = cpu_of([python, HERE / "serving.py", name], stderr=subprocess.DEVNULL)
        theirs = json.loads(said.splitlines()[-1])
        ours = sweep_seconds(program, model, card)
        text, own_whole = cpu_of([program, "estimate", model, "--machine", card, "--runtime", "vllm", "--precision", "bf16", "--prompt-tokens", "512",
                          "--output-tokens", "128", "--format", "csv"])
        own = next(csv.DictReader(io.StringIO(text)))
        peer_says = f'{theirs["ttft_ms"]:.0f} ms, {theirs["tpot_ms"]:.1f} ms' if "ttft_ms" in theirs else ""
        print(f'| {name} {packages[0].split("==")[1]}, {theirs["points"]} points | {theirs["seconds"] * 1e3:.3g} ms | {ours * 1e6:.2f} µs | '
              f'{theirs["seconds"] / ours:,.0f} : 1 | {whole:.2f} s | {own_whole * 1e3:.0f} ms | {peer_says} | {1e3 * float(own["ttft_s"]):.0f} ms, {1e3 * float(own["tpot_s"]):.1f} ms | {does} |', flush=True)


def maps(build):
    python = python_with("accelerate", ["torch==2.15.0", "transformers==5.23.0", "accelerate==1.15.0"])
    arguments = [each for name, file in MAPS.items() for each in (name, CATALOGUE / file)]
    theirs = json.loads(cpu_of([python, HERE / "accelerate_maps.py", *arguments], stderr=subprocess.DEVNULL)[0].splitlines()[-1])
    said, _ = cpu_of([build / "bench" / "bench_placement", "--benchmark_filter=^accelerate_map/", "--benchmark_format=json"], stderr=subprocess.DEVNULL)
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    ours = {row["name"].split("/")[1]: row["cpu_time"] * scale[row["time_unit"]] for row in json.loads(said)["benchmarks"]}
    print("\nOne device map of a model that is built, 8 GiB of card and 32 GiB of memory:\n")
    print("| model | accelerate 1.15.0, infer_auto_device_map() | headroom | ratio |\n|---|---:|---:|---:|")
    for name in MAPS:
        print(f"| {name} | {theirs[name] * 1e3:.1f} ms | {ours[name] * 1e6:.1f} µs | {theirs[name] / ours[name]:,.0f} : 1 |")


def ranking(program):
    """Each program's list of what runs on one machine, as it prints it and as data; the least of three whole processes."""
    llmfit = python_with("llmfit", ["llmfit==1.1.17"]).parent / "llmfit"
    fit = [llmfit, "--memory", "24G", "--ram", "64G", "fit"]
    plan = [program, "plan", "--machine", "rtx-4090 @ desktop-ddr5-64gb"]
    table = [*plan, "--format", "csv"]

    def best(command):
        return min((cpu_of(command, stderr=subprocess.DEVNULL) for _ in range(3)), key=lambda run: run[1])

    (_, theirs), (_, ours), (listed, theirs_data), (_, ours_data) = best(fit), best(plan), best([*fit, "--json"]), best(table)
    scored = len(json.loads(listed)["models"])
    known = cpu_of([program, "models", "list", "--format", "csv"])[0].count("\n") - 1
    print("\nWhat runs on 24 GB of card and 64 GB of memory, all models that each knows, whole process, CPU time:\n")
    print("| program | models | the list | as data |\n|---|---:|---:|---:|")
    print(f"| llmfit 1.1.17, `fit`: a score for each name, from its parameters | {scored:,} | {theirs:.2f} s | {theirs_data:.2f} s |")
    print(f"| headroom, `plan`: configs described tensor by tensor, with all usual ways; as data with QLoRA's peak | {known:,} | {ours:.2f} s | {ours_data:.2f} s |")


def gguf_files(program):
    """Whole processes on the GGUF headers of the oracle, as sparse files; the median of those that both read."""
    sys.path.append(str(ROOT / "tests" / "llama_cpp"))
    import headers

    peer = go_program("gguf_parser")
    flags = ["--machine", "rtx-4090", "--runtime", "llama.cpp", "--context", "8192", "--format", "json"]
    took = []
    with tempfile.TemporaryDirectory() as folder:
        for archive, name, data in headers.archived():
            path = pathlib.Path(folder, f"{archive}__{name}.gguf")
            headers.Judged(data).write(path)
            try:
                said, theirs = cpu_of([peer, path], stderr=subprocess.DEVNULL)
                _, ours = cpu_of([program, "estimate", path, *flags], stderr=subprocess.DEVNULL)
                took.append((theirs, json.loads(said)["seconds"], ours))
            except subprocess.CalledProcessError:
                continue  # one of them refuses it, or it does not fit
    theirs, inside, ours = (statistics.median(column) for column in zip(*took))
    print(f"\nOne GGUF file, llama.cpp with 8,192 tokens of context, whole process, median of {len(took)} files:\n")
    print("| program | CPU time | what it works out |\n|---|---:|---|")
    print(f"| gguf-parser-go 0.28.2 | {theirs * 1e3:.1f} ms, of which reading and estimate {inside * 1e3:.2f} ms | memory alone |")
    print(f"| headroom, `estimate` | {ours * 1e3:.1f} ms | memory, load and times with intervals |")


def starts(program):
    """Peers that ask the hub in every estimate: CPU seconds of a process that only begins."""
    print("\nPeers that ask the hub for each estimate, a process that only prints its help, and a whole estimate of headroom:\n")
    print("| program | CPU time |\n|---|---:|")
    for package, version in (("hf-mem", "0.5.6"), ("llm-cal", "0.2.0")):
        program_of = python_with(package, [f"{package}=={version}"]).parent / package
        seconds = min(cpu_of([program_of, "--help"])[1] for _ in range(5))
        print(f"| {package} {version}, `--help` | {seconds * 1e3:.0f} ms |")
    model = [program, "estimate", "meta-llama/Meta-Llama-3.1-8B", "--machine", "rtx-4090"]
    print(f"| headroom, `estimate`, ten ways compared | {min(cpu_of(model)[1] for _ in range(5)) * 1e3:.0f} ms |")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("build", nargs="?", default=str(ROOT / "build" / "release"))
    options.add_argument("--without", action="append", default=[], help="llm-analysis, genz, aiconfigurator, accelerate, llmfit, gguf-parser or starts")
    given = options.parse_args()
    build = pathlib.Path(given.build)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    serving(build / "headroom", given.without)
    if "accelerate" not in given.without:
        maps(build)
    if "llmfit" not in given.without:
        ranking(build / "headroom")
    if "gguf-parser" not in given.without:
        gguf_files(build / "headroom")
    if "starts" not in given.without:
        starts(build / "headroom")


if __name__ == "__main__":
    main()
