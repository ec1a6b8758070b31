#!/usr/bin/env python3
"""Memory and times of serving one model on one A100 by a peer: CPU seconds a point, and what it says of batch 1 with 512 + 128
tokens, as one line of JSON. Run by run.py as: serving.py PEER.
"""

import json
import logging
import sys
import time
import warnings

BATCHES, PROMPTS, OUTPUT = (1, 2, 4, 8), (256, 512, 1024, 2048), 128


def llm_analysis():
    from llm_analysis import config
    from llm_analysis.analysis import LLMAnalysis

    analysis = LLMAnalysis(
        config.get_model_config_by_name("NousResearch_Llama-2-7b-hf"),
        config.get_gpu_config_by_name("a100-sxm-40gb"),
        flops_efficiency=0.5,
        hbm_memory_efficiency=0.7,
    )

    def point(batch, prompt):
        said = analysis.inference(batch_size_per_gpu=batch, seq_len=prompt, num_tokens_to_generate=OUTPUT)
        return said["prefill_latency"] * 1e3, said["decode_latency"] * 1e3

    return point


def genz():
    from GenZ import decode_moddeling, prefill_moddeling

    common = {"model": "llama2_7b", "system_name": "A100_40GB_GPU", "bits": "bf16"}

    def point(batch, prompt):
        first = prefill_moddeling(batch_size=batch, input_tokens=prompt, **common)
        after = decode_moddeling(batch_size=batch, input_tokens=prompt, output_tokens=OUTPUT, Bb=1, **common)
        return first["Latency"], after["Latency"]

    return point


def aiconfigurator():
    from aiconfigurator.cli.api import cli_estimate

    def point(batch, prompt):
        said = cli_estimate(
            "meta-llama/Meta-Llama-3.1-8B", "a100_sxm", backend_name="trtllm", isl=prompt, osl=OUTPUT, batch_size=batch
        )
        return float(said.ttft), float(said.tpot)

    return point


def aiconfigurator_sweep():
    """Its own search over one node: CPU seconds by distinct points, since it asks for most of them many times."""
    import aiconfigurator_core.sdk.backends.base_backend as base
    from aiconfigurator.cli.api import cli_default

    run, distinct = base.BaseBackend.run_agg, set()

    def counted(self, model, database, runtime, **given):
        distinct.add((id(type(self)), model.config.tp_size, model.config.pp_size, runtime.batch_size, runtime.isl, runtime.osl, given.get("ctx_tokens")))
        return run(self, model, database, runtime, **given)

    base.BaseBackend.run_agg = counted
    start = time.process_time()
    cli_default("meta-llama/Meta-Llama-3.1-8B", 8, "a100_sxm", isl=512, osl=OUTPUT)
    return {"seconds": (time.process_time() - start) / len(distinct), "points": len(distinct)}


def measured(point):
    sample = point(1, 512)  # one-time reads are not counted
    start = time.process_time()
    for batch in BATCHES:
        for prompt in PROMPTS:
            point(batch, prompt)
    points = len(BATCHES) * len(PROMPTS)
    return {"seconds": (time.process_time() - start) / points, "points": points, "ttft_ms": sample[0], "tpot_ms": sample[1]}


logging.disable(logging.CRITICAL)
warnings.filterwarnings("ignore")
peer = sys.argv[1]
result = aiconfigurator_sweep() if peer == "aiconfigurator-sweep" else measured(globals()[peer.replace("-", "_")]())
print("\n" + json.dumps(result))
