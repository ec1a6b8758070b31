#!/usr/bin/env python3
"""Device maps side by side: accelerate's infer_auto_device_map and headroom, on this machine.

    bench/peers/accelerate_maps.py [build/release/bench/bench_placement]

Makes a virtual environment under build/peers with torch, transformers and accelerate from PyPI (about
5 GB; PEERS_PYTHON names a Python that has them instead), builds each model without weights, and times
one map: the best of several runs, in CPU time. headroom's figures are those of bench_placement, which
does the same work: the sizes of all tensors, then the walk. Prints a table and the ratios.
"""

import json
import os
import subprocess
import sys
import time

from environment import ROOT, again_with

PACKAGES = ["torch==2.15.0", "transformers==5.23.0", "accelerate==1.15.0"]
MODELS = {
    "opt_30b": "facebook__opt-30b.json",
    "llama_70b": "meta-llama__Llama-3.3-70B-Instruct.json",
}
MAX_MEMORY = {0: "8GiB", "cpu": "32GiB"}


def accelerate_seconds(config_file):
    import torch
    from accelerate import infer_auto_device_map
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(**json.loads(config_file.read_text()))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.tie_weights()
    best, entries = float("inf"), 0
    for _ in range(7):
        start = time.process_time()
        device_map = infer_auto_device_map(
            model, MAX_MEMORY, no_split_module_classes=list(model._no_split_modules), dtype=torch.float16
        )
        best = min(best, time.process_time() - start)
        entries = len(device_map)
    return best, entries


def headroom_seconds(program):
    run = subprocess.run(
        [program, "--benchmark_filter=^accelerate_map/", "--benchmark_format=json"],
        check=True, capture_output=True, text=True,
    )
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    return {
        row["name"].split("/")[1]: row["cpu_time"] * scale[row["time_unit"]]
        for row in json.loads(run.stdout)["benchmarks"]
    }


def main():
    if not os.environ.get("HEADROOM_PEERS_READY"):
        return again_with("accelerate", PACKAGES)
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bench/bench_placement")
    ours = headroom_seconds(program)
    import accelerate
    import transformers

    print(f"accelerate {accelerate.__version__}, transformers {transformers.__version__}, CPU time of one map")
    print(f"{'model':<12}{'accelerate':>14}{'headroom':>14}{'ratio':>10}{'entries':>10}")
    for name, file in MODELS.items():
        theirs, entries = accelerate_seconds(ROOT / "model" / "catalogue" / file)
        print(
            f"{name:<12}{theirs * 1e3:>11.1f} ms{ours[name] * 1e6:>11.1f} µs"
            f"{theirs / ours[name]:>10,.0f}{entries:>10}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
