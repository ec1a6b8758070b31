#!/usr/bin/env python3
"""Makes tests/oracle/data/exports.jsonl: tiny checkpoints as AMD Quark and torchao write
them.

usage: make_exports.py OUT_FILE

Run with amd-quark 0.13, torchao 0.18.0, torch 2.11.0, transformers 5.24.0 on the CPU. Each line has the tool, the config.json that it wrote,
and the bytes of all tensors in its safetensors files. Weights are random.
"""
import glob, json, os, struct, sys, tempfile

import torch
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
from quark.torch.quantization.config.config import (
    FP8E4M3PerChannelSpec, FP8E4M3PerTensorSpec, Int8PerChannelSpec, Int8PerGroupSpec, Int8PerTensorSpec,
    OCP_MXFP4Spec, QConfig, QLayerConfig, Uint8PerTensorSpec)
from torchao import quantization as ao
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, TorchAoConfig

SCHEMES = ("int4_wo_32", "int4_wo_64", "int4_wo_128", "int4_wo_per_channel", "uint4_wo_128", "uint4_wo_per_channel",
           "int8", "fp8", "ptpc_fp8", "mxfp4", "mxfp4_weight_only", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4_mxfp6_e2m3",
           "mxfp4_fp8", "int4_fp8", "nvfp4", "fp4_block16_scale_e4m3")


def tiny():
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        architectures=["LlamaForCausalLM"], hidden_size=256, intermediate_size=512, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=64, vocab_size=512, max_position_embeddings=256,
        tie_word_embeddings=False, dtype="bfloat16")).to(torch.bfloat16).eval()


def tensor_bytes(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    return sum(t["data_offsets"][1] - t["data_offsets"][0] for name, t in header.items() if name != "__metadata__")


def written(tool, name, folder):
    config = json.loads(open(os.path.join(folder, "config.json")).read())
    total = sum(map(tensor_bytes, glob.glob(folder + "/*.safetensors")))
    return {"tool": tool, "name": name, "bytes": total, "config": config}


def export(name, config):
    quantizer = ModelQuantizer(config)
    model = quantizer.freeze(quantizer.quantize_model(tiny(), [torch.randint(0, 512, (1, 32)) for _ in range(2)]))
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        export_safetensors(model=model, output_dir=folder)
        return written("amd-quark 0.13", name, folder)


def saved(name, config, **words):
    """By transformers with torchao."""
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as folder:
        tiny().save_pretrained(plain)
        AutoModelForCausalLM.from_pretrained(plain, quantization_config=TorchAoConfig(config, **words),
                                             dtype=torch.bfloat16, device_map="cpu").save_pretrained(folder)
        return written("torchao 0.18", name, folder)


def torchao_rows():
    by_row = ao.IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=ao.PerAxis(0))
    groups = ao.Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=ao.PerGroup(32))
    float8 = ao.Float8WeightOnlyConfig()
    yield saved("int8 weights", ao.Int8WeightOnlyConfig())
    yield saved("int8 weights and activations", ao.Int8DynamicActivationInt8WeightConfig())
    yield saved("float8 weights", float8)
    yield saved("float8 weights, some modules excluded", float8, modules_to_not_convert=["model.layers.0.mlp"])
    yield saved("int4 in bytes", groups)
    yield saved("int8 by row", by_row)
    yield saved("int8 by row, embeddings too", by_row, include_input_output_embeddings=True)
    yield saved("by module", ao.FqnToConfig({"model.layers.0.mlp.down_proj": ao.Int8WeightOnlyConfig(),
                                             r"re:model\.layers\.[01]\.self_attn\..*": None, "_default": groups}))


def spec(kind, **words):
    return kind(**words).to_quantization_spec()


def configs():
    template = LLMTemplate.get("llama")
    for scheme in SCHEMES:
        yield scheme, template.get_config(scheme=scheme)
    yield "fp8, KV cache in fp8", template.get_config(scheme="fp8", kv_cache_scheme="fp8")
    yield "mxfp4, KV cache in fp8", template.get_config(scheme="mxfp4", kv_cache_scheme="fp8")
    yield "mxfp4, attention in fp8", template.get_config(scheme="mxfp4", layer_config={"*self_attn*": "ptpc_fp8"})
    yield "fp8, some layers excluded", template.get_config(
        scheme="fp8", exclude_layers=["lm_head", "*.1.mlp.*", "*layers.0.*.[qk]_proj"])
    yield "fp8, head too", template.get_config(scheme="fp8", exclude_layers=[])
    tensor = spec(FP8E4M3PerTensorSpec)
    for name, weight, inputs in (
            ("fp8, dynamic", tensor, spec(FP8E4M3PerTensorSpec, is_dynamic=True)),
            ("fp8, fp32 scales", spec(FP8E4M3PerTensorSpec, scale_type="float32"),
             spec(FP8E4M3PerTensorSpec, scale_type="float32")),
            ("fp8 by row, fp32 scales", spec(FP8E4M3PerChannelSpec, ch_axis=0, scale_type="float32"), None),
            ("int8 by row", spec(Int8PerChannelSpec, ch_axis=0, symmetric=True), None),
            ("int8 by row, inputs static", spec(Int8PerChannelSpec, ch_axis=0, symmetric=True),
             spec(Uint8PerTensorSpec)),
            ("int8 alone", spec(Int8PerTensorSpec), None),
            ("mxfp4 alone", spec(OCP_MXFP4Spec, ch_axis=-1, is_dynamic=False), None)):
        yield name, QConfig(global_quant_config=QLayerConfig(weight=weight, input_tensors=inputs), exclude=["lm_head"])


if __name__ == "__main__":
    with open(sys.argv[1], "w") as out:
        for name, config in configs():
            out.write(json.dumps(export(name, config), sort_keys=True) + "\n")
        for row in torchao_rows():
            out.write(json.dumps(row, sort_keys=True) + "\n")
