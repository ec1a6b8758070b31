#!/usr/bin/env python3
"""accelerate's device maps: the best CPU time of several, as one line of JSON. Run by run.py."""

import json
import pathlib
import sys
import time

import torch
from accelerate import infer_auto_device_map
from transformers import AutoConfig, AutoModelForCausalLM

MAX_MEMORY = {0: "8GiB", "cpu": "32GiB"}


def seconds(config_file):
    """One map of a model that is built, without weights, as sweeps would: not counted."""
    config = AutoConfig.for_model(**json.loads(pathlib.Path(config_file).read_text()))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.tie_weights()
    best = float("inf")
    for _ in range(7):
        start = time.process_time()
        infer_auto_device_map(model, MAX_MEMORY, no_split_module_classes=list(model._no_split_modules), dtype=torch.float16)
        best = min(best, time.process_time() - start)
    return best


print(json.dumps({name: seconds(file) for name, file in zip(sys.argv[1::2], sys.argv[2::2])}))
