#!/usr/bin/env python3
"""Reads a DeepSpeed configuration from standard input, "inference" or "zero3", as its documentation
describes it (Configuration JSON; Inference API; read 2026-11-21, DeepSpeed 0.19.8). Fails on a key that
is not documented and on a value of another type. Where deepspeed is installed, its own classes read the
configuration too.
"""

import importlib.util
import json
import sys

OFFLOAD = {"device": ("none", "cpu", "nvme"), "nvme_path": str, "pin_memory": bool, "buffer_count": int,
           "buffer_size": int, "max_in_cpu": int}
SWITCH = {"enabled": bool}
DOCUMENTED = {
    "inference": {"dtype": ("fp16", "bf16", "fp32", "int8"), "tensor_parallel": {"tp_size": int, "enabled": bool},
                  "max_out_tokens": int, "min_out_tokens": int, "replace_with_kernel_inject": bool},
    "zero3": {"train_micro_batch_size_per_gpu": int, "train_batch_size": int, "gradient_accumulation_steps": int,
              "fp16": SWITCH, "bf16": SWITCH,
              "zero_optimization": {"stage": (0, 1, 2, 3), "offload_param": OFFLOAD, "offload_optimizer": OFFLOAD}},
}


def check(value, documented, path):
    if isinstance(documented, dict):
        assert isinstance(value, dict), f"{path}: expected an object"
        for key, inner in value.items():
            assert key in documented, f"{path}.{key}: not documented"
            check(inner, documented[key], f"{path}.{key}")
    elif isinstance(documented, tuple):
        assert value in documented, f"{path}: found {value!r}, expected one of {documented}"
    else:
        assert type(value) is documented, f"{path}: found {value!r}, expected {documented.__name__}"


def read_by_deepspeed(kind, config):
    if kind == "inference":
        from deepspeed.inference.config import DeepSpeedInferenceConfig

        DeepSpeedInferenceConfig(**config)
    else:
        from deepspeed.runtime.zero.config import DeepSpeedZeroConfig

        DeepSpeedZeroConfig(**config["zero_optimization"])


kind, config = sys.argv[1], json.load(sys.stdin)
try:
    check(config, DOCUMENTED[kind], kind)
except AssertionError as error:
    sys.exit(str(error))
if kind == "zero3":
    offload = config["zero_optimization"].get("offload_param", {})
    if offload.get("device") == "nvme" and "nvme_path" not in offload:
        sys.exit("nvme without nvme_path")
if importlib.util.find_spec("deepspeed"):
    read_by_deepspeed(kind, config)
print("read")
