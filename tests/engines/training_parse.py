"""usage: training_parse.py LLAMA_FACTORY AXOLOTL <REQUESTS   gives files of `headroom launch --task training` to the classes that read them

A request is a line of JSON: kind, the file's text, and the model's configuration. The answer is a line of JSON: `wrong`, or what the
classes understood. No weights are loaded: models are on the meta device, where PEFT's trained parameters are counted.
"""
import functools
import importlib
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
import yaml  # noqa: E402
from accelerate.commands.launch import _validate_launch_command, launch_command_parser  # noqa: E402
from deepspeed.runtime.config import DeepSpeedConfig  # noqa: E402
from transformers.integrations.deepspeed import unset_hf_deepspeed_config  # noqa: E402

from missing import stand_in_for  # noqa: E402


def world_of(size):
    return type("World", (), {"get_data_parallel_world_size": lambda self: size})()


def deepspeed_facts(given):
    """Facts of a configuration as DeepSpeed's own class has them."""
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
    facts = {**of_trainer(given), "recomputes": given.gradient_checkpointing or bool((given.fsdp_config or {}).get("activation_checkpointing")),
             "class": optimizer.__name__ if optimizer else "", "liger": given.use_liger_kernel, "compiled": given.torch_compile,
             "sequence": words["SEQUENCE"], "dtype": str(seen["dtype"]).split(".")[-1], "attention": seen["attn_implementation"],
             "model": seen["name"], "quantised": "quantization_config" in seen,
             "trained": sum(each.numel() for each in model.parameters() if each.requires_grad),
             "fsdp": given.fsdp_plugin_args["fsdp_version"] if given.fsdp else 0,
             "fsdp_offloads": bool(given.fsdp and given.fsdp_plugin_args.get("cpu_offload"))}
    if "DEEPSPEED" in words:
        facts["deepspeed"] = deepspeed_facts(words["DEEPSPEED"])
        facts["plugin_stage"] = given.deepspeed_plugin.zero_stage
    return facts


def of_trainer(given):
    """Facts of TrainingArguments, and of classes that inherit them."""
    return {"batch": given.per_device_train_batch_size, "passes": given.gradient_accumulation_steps, "bf16": given.bf16,
            "fp16": given.fp16, "optim": getattr(given.optim, "value", given.optim), "steps": given.max_steps}


def with_deepspeed(facts, given):
    return {**facts, "deepspeed": deepspeed_facts(given)} if given else facts


def llama_factory(request):
    """The parser of `llamafactory-cli train`; its later checks ask for processes and cards."""
    words = yaml.safe_load(request["text"])
    model, data, given, method, _ = llama_factory_parser()._parse_train_args({**words, "use_cpu": True})
    adapters = method.finetuning_type == "lora"
    targets = method.lora_target if isinstance(method.lora_target, list) else [method.lora_target]
    facts = {**of_trainer(given), "sequence": data.cutoff_len, "recomputes": not model.disable_gradient_checkpointing,
             "attention": {"sdpa": "sdpa", "fa2": "flash_attention_2", "disabled": "eager"}[getattr(model.flash_attn, "value", model.flash_attn)], "liger": model.enable_liger_kernel,
             "model": model.model_name_or_path, "quantised": model.quantization_bit == 4, "pure": method.pure_bf16,
             "rank": method.lora_rank if adapters else 0, "alpha": method.lora_alpha if adapters else 0,
             "targets": targets if adapters else [], "copies": method.additional_target or [], "dora": method.use_dora}
    return with_deepspeed(facts, words.get("deepspeed"))


def axolotl(request):
    """axolotl's schema, which leaves unknown keys out: each key must be a field of it or of its Liger plugin."""
    words = yaml.safe_load(request["text"])
    schema = axolotl_schema()
    unknown = [key for key in words if key not in schema.model_fields]
    if unknown:
        raise ValueError(f"axolotl has no {', '.join(unknown)}")
    given = schema(**words)
    targets = ["all"] if given.lora_target_linear else given.lora_target_modules or []
    fsdp = given.fsdp_config
    facts = {"batch": given.micro_batch_size, "passes": given.gradient_accumulation_steps, "bf16": given.bf16 is True,
             "fp16": given.fp16 is True, "optim": str(getattr(given.optimizer, "value", given.optimizer)), "steps": given.max_steps or -1,
             "sequence": given.sequence_len, "recomputes": bool(given.gradient_checkpointing or (fsdp and fsdp.activation_checkpointing)),
             "attention": given.attn_implementation, "liger": bool(given.liger_fused_linear_cross_entropy),
             "model": given.base_model, "quantised": bool(given.load_in_4bit), "pure": bool(given.bfloat16 or given.float16),
             "rank": given.lora_r or 0, "alpha": given.lora_alpha or 0, "targets": targets, "copies": given.lora_modules_to_save or [],
             "dora": bool(given.peft_use_dora), "fsdp": given.fsdp_version or 0, "compiled": bool(given.torch_compile),
             "fsdp_offloads": bool(fsdp and fsdp.offload_params)}
    return with_deepspeed(facts, given.deepspeed)


def accelerate(request):
    """The arguments of `accelerate launch` after it has read the file. It takes any key, so each must be one of its options."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(request["text"])
        file.flush()
        parser = launch_command_parser()
        given = parser.parse_args(["--config_file", file.name, "train.py"])
        known = set(vars(given))
        words = yaml.safe_load(request["text"])
        nested = {key: value for part in words.values() if isinstance(part, dict) for key, value in part.items()}
        unknown = [key for key in nested if key not in known]
        if unknown:
            raise ValueError(f"accelerate has no {', '.join(unknown)}")
        given, _, _ = _validate_launch_command(given)
    return {"cards": given.num_processes, "bf16": given.mixed_precision == "bf16", "fp16": given.mixed_precision == "fp16",
            "stage": int(given.zero_stage or 0) if given.use_deepspeed else 0,
            "optimizer_on": given.offload_optimizer_device.replace("none", "") if given.use_deepspeed else "",
            "params_on": given.offload_param_device.replace("none", "") if given.use_deepspeed else "",
            "fsdp": int(given.fsdp_version) if given.use_fsdp else 0,
            "fsdp_offloads": bool(given.use_fsdp and str(given.fsdp_offload_params).lower() == "true")}


@functools.cache
def llama_factory_parser():
    os.environ["DISABLE_VERSION_CHECK"] = "1"
    sys.path.insert(0, sys.argv[1])
    stand_in_for("llamafactory")
    return importlib.import_module("llamafactory.hparams.parser")


@functools.cache
def axolotl_schema():
    sys.path.insert(0, sys.argv[2])
    stand_in_for("axolotl")
    parts = ("axolotl.utils.schemas.config", "AxolotlInputConfig"), ("axolotl.integrations.liger.args", "LigerArgs")
    return type("Schema", tuple(getattr(importlib.import_module(module), name) for module, name in parts), {})  # as its plugins do


# Optimizers whose packages are here.
INSTALLED = {"adamw_torch_fused", "sgd", "adagrad", "rmsprop", "adafactor", "adamw_bnb_8bit", "paged_adamw_8bit", "paged_adamw_32bit",
             "ademamix", "ademamix_8bit", "paged_ademamix_32bit", "paged_ademamix_8bit", "lion_32bit", "lion_8bit", "paged_lion_32bit",
             "paged_lion_8bit", "rmsprop_bnb_32bit", "rmsprop_bnb_8bit"}
KINDS = {"trainer": trainer, "llama-factory": llama_factory, "axolotl": axolotl, "accelerate": accelerate,
         "deepspeed": lambda request: deepspeed_facts(json.loads(request["text"]))}


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
