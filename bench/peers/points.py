#!/usr/bin/env python3
"""Points a second side by side: llm-analysis and headroom, on this machine.

    bench/peers/points.py [build/release/headroom]

Makes a virtual environment under build/peers with llm-analysis from PyPI (PEERS_PYTHON names a Python
that has it instead). Both estimate memory and times of serving Llama-2-7B on one 40 GB A100 over a
grid of batches and prompts. A figure is CPU time a point, whole processes less their start: headroom's
has evaluating, storing in sqlite, results.csv, tables and the page in it; llm-analysis' is its function
alone. They do not compute the same terms: read the ratio as an order of magnitude.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

from environment import ROOT, again_with

PACKAGES = ["llm-analysis==0.2.2"]
BATCHES, PROMPTS = range(1, 21), range(100, 2600, 100)


def llm_analysis():
    """CPU seconds a point."""
    import logging

    logging.disable(logging.CRITICAL)
    from llm_analysis import config
    from llm_analysis.analysis import LLMAnalysis

    analysis = LLMAnalysis(
        config.get_model_config_by_name("NousResearch_Llama-2-7b-hf"),
        config.get_gpu_config_by_name("a100-sxm-40gb"),
        flops_efficiency=0.5,
        hbm_memory_efficiency=0.7,
    )
    start, points = time.process_time(), 0
    for batch in BATCHES:
        for prompt in PROMPTS:
            analysis.inference(batch_size_per_gpu=batch, seq_len=prompt, num_tokens_to_generate=128)
            points += 1
    return (time.process_time() - start) / points


def headroom(program):
    """CPU seconds a point: a large grid less a grid of one point."""

    def sweep(batches, prompts):
        spec = (
            '[run]\nname = "peers"\n[[grid]]\nmodels = ["llama2-7b"]\nmachines = ["a100-sxm-40gb"]\n'
            f'batches = "{batches}"\nprompt_tokens = "{prompts}"\n'
        )
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "peers.toml")
            file.write_text(spec)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [program, "sweep", file, "--jobs", "1", "--no-plots", "--out", folder, "--log-format", "json"]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, json.loads(said.splitlines()[-1])["points"]

    one, _ = sweep("1", "100")
    many, points = sweep("1-200", "100-2599+1")
    return (many - one) / points


def main():
    if not os.environ.get("HEADROOM_PEERS_READY"):
        return again_with("points", PACKAGES)
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build" / "release" / "headroom")
    ours, theirs = headroom(program), llm_analysis()
    print("| tool | CPU time a point | points/s and core |\n|---|---:|---:|")
    for name, seconds in (("llm-analysis 0.2.2, inference()", theirs), ("headroom sweep, to the page", ours)):
        print(f"| {name} | {seconds * 1e6:.2f} µs | {1 / seconds:,.0f} |")
    print(f"\nllm-analysis / headroom: {theirs / ours:.0f} times")
    return 0


if __name__ == "__main__":
    sys.exit(main())
