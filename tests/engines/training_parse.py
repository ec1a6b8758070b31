"""usage: training_parse.py <REQUESTS   gives files of `headroom launch --task training` to the classes that read them

A request is a line of JSON: kind, the file's text, and the model's configuration. The answer is a line of JSON: `wrong`, or what the
classes understood. No weights are loaded: models are on the meta device, where PEFT's trained parameters are counted.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

OUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # libraries write to standard output
os.environ.setdefault("ACCELERATE_USE_CPU", "true")

import torch  # noqa: E402
import transformers  # noqa: E402
from deepspeed.runtime.config import DeepSpeedConfig  # noqa: E402
from transformers.integrations.deepspeed import unset_hf_deepspeed_config  # noqa: E402


def world_of(size):
    return type("World", (), {"get_data_parallel_world_size": lambda self: size})()


def deepspeed_facts(given):
    """What DeepSpeed's own class makes of a configuration."""
    config = DeepSpeedConfig(dict(given), mpu=world_of(1))
    zero = config.zero_config
    return {"stage": zero.stage, "batch": config.train_micro_batch_size_per_gpu, "passes": config.gradient_accumulation_steps,
            "optimizer_on": str(zero.offload_optimizer.device) if zero.offload_optimizer else "",
            "params_on": str(zero.offload_param.device) if zero.offload_param else "",
            "bf16": config.bfloat16_config.enabled, "fp16": config.float16_config.enabled, "optimizer": config.optimizer_name or "",
            "bucket": zero.reduce_bucket_size}


def configured(config):
    folder = Path(tempfile.mkdtemp())
    (folder / "config.json").write_text(json.dumps(config))
    return transformers.AutoConfig.from_pretrained(folder)


def trainer(request):
    words = {"__name__": "train"}
    exec(compile(request["text"], "train.py", "exec"), words)
    given = words["arguments"]()
    seen = {}

    def from_pretrained(name, **options):
        seen.update(options, name=name)
        with torch.device("meta"):
            return transformers.AutoModelForCausalLM.from_config(configured(request["config"]), dtype=options["dtype"],
                                                                 attn_implementation=options["attn_implementation"])

    unset_hf_deepspeed_config()  # ZeRO 3 would divide the model between processes, of which there is one
    words["AutoModelForCausalLM"] = type("Loader", (), {"from_pretrained": staticmethod(from_pretrained)})
    model = words["load"]()
    optimizer, named = transformers.Trainer.get_optimizer_cls_and_kwargs(given, model) if given.optim in INSTALLED else (None, {})
    facts = {"batch": given.per_device_train_batch_size, "passes": given.gradient_accumulation_steps, "bf16": given.bf16,
             "fp16": given.fp16, "recomputes": given.gradient_checkpointing or bool((given.fsdp_config or {}).get("activation_checkpointing")),
             "optim": str(given.optim.value if hasattr(given.optim, "value") else given.optim), "class": optimizer.__name__ if optimizer else "",
             "liger": given.use_liger_kernel, "compiled": given.torch_compile, "steps": given.max_steps,
             "sequence": words["SEQUENCE"], "dtype": str(seen["dtype"]).split(".")[-1], "attention": seen["attn_implementation"],
             "model": seen["name"], "quantised": "quantization_config" in seen,
             "trained": sum(each.numel() for each in model.parameters() if each.requires_grad),
             "fsdp": given.fsdp_plugin_args["fsdp_version"] if given.fsdp else 0,
             "fsdp_offloads": bool(given.fsdp and given.fsdp_plugin_args.get("cpu_offload"))}
    if "DEEPSPEED" in words:
        facts["deepspeed"] = deepspeed_facts(words["DEEPSPEED"])
        facts["plugin_stage"] = given.deepspeed_plugin.zero_stage
    return facts


# Optimizers whose packages are here.
INSTALLED = {"adamw_torch_fused", "sgd", "adagrad", "rmsprop", "adafactor", "adamw_bnb_8bit", "paged_adamw_8bit", "paged_adamw_32bit",
             "ademamix", "ademamix_8bit", "paged_ademamix_32bit", "paged_ademamix_8bit", "lion_32bit", "lion_8bit", "paged_lion_32bit",
             "paged_lion_8bit", "rmsprop_bnb_32bit", "rmsprop_bnb_8bit"}
KINDS = {"trainer": trainer, "deepspeed": lambda request: deepspeed_facts(json.loads(request["text"]))}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = KINDS[request["kind"]](request)
        except Exception as error:
            answer = {"wrong": f"{type(error).__name__}: {error}".split("\n")[0]}
        print(json.dumps(answer), file=OUT, flush=True)


if __name__ == "__main__":
    main()
