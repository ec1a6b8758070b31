#!/usr/bin/env python3
"""Makes the small__ headers of data/gguf.tar.gz: llama.cpp's converter on small models that nobody published.

usage: make_small_gguf.py MORE_FOLDER OUT_FOLDER      MORE_FOLDER: data/more.tar.gz, unpacked

Needs LLAMA_CPP as make_checkpoints.py does, torch and transformers. Names and shapes come from data/more.tar.gz, so
that transformers need not know the classes. Models are cut to six layers, four experts and 1000 tokens. KEYS holds the keys of
published config.json files that the converter reads and transformers 5 renamed.
"""
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import torch

for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "uint16", "uint32", "uint64"):
    if not hasattr(torch, name):  # old versions of torch
        setattr(torch, name, torch.int8)
sys.path[:0] = [os.environ["LLAMA_CPP"] + "/gguf-py", os.environ["LLAMA_CPP"]]
import gguf as container
from conversion import LazyTorchTensor, ModelBase, ModelType, get_model_class
from conversion.base import get_model_architecture

LAYERS, EXPERTS, TOKENS = 6, 4, 1000
KEYS = {
    "base__jais2": {"architectures": ["Jais2ForCausalLM"], "tie_word_embeddings": True},
    "exaone_moe": {},
    "falcon_h1": {"head_dim": 128, "rope_theta": 1e4},
    "granitemoehybrid": {},
    "granitemoehybrid__attention": {},
    "granitemoehybrid__dense": {},
    "hunyuan_v1_moe": {
        "moe_intermediate_size": [11008] * LAYERS, "moe_topk": [4] * LAYERS, "num_shared_expert": [1] * LAYERS,
        "rope_scaling": {"alpha": 1000.0, "factor": 1.0, "type": "dynamic"}, "rope_theta": 1e4, "head_dim": 128},
    "hy_v3": {},
    "kimi_linear": {
        "first_k_dense_replace": 1,
        "linear_attn_config": {"full_attn_layers": [5], "kda_layers": [1, 2, 3, 4, 6], "head_dim": 128,
                               "num_heads": 32, "short_conv_kernel_size": 4}},
    "mimo_v2_flash": {
        "swa_head_dim": 192, "swa_v_head_dim": 128, "swa_num_key_value_heads": 8, "swa_num_attention_heads": 64,
        "moe_layer_freq": [0, 1, 1, 1, 1, 1], "hybrid_layer_pattern": [0, 1, 1, 1, 1, 0], "swa_rope_theta": 1e4,
        "sliding_window": 128, "sliding_window_size": 128, "rope_theta": 1e6, "scoring_func": "sigmoid",
        "topk_method": "noaux_tc", "partial_rotary_factor": 0.334, "layernorm_epsilon": 1e-5,
        "add_swa_attention_sink_bias": True, "add_full_attention_sink_bias": False,
        "rope_parameters": {"rope_theta": 5e6, "rope_type": "default", "partial_rotary_factor": 0.334}},
    "minimax_m3_vl_text": {
        "architectures": ["MiniMaxM3SparseForCausalLM"], "n_shared_experts": 1, "moe_layer_freq": [0, 0, 1, 1, 1, 1],
        "sparse_attention_config": {"sparse_num_index_heads": 4, "sparse_index_dim": 128, "sparse_topk_blocks": 16,
                                    "sparse_block_size": 128, "sparse_local_block": 1}},
}
COUNTS = ("n_routed_experts", "num_experts", "num_local_experts")


def config_of(folder, name):
    config = json.loads(Path(folder, "configs", name + ".json").read_text())
    layers = config["num_hidden_layers"]
    for key, value in config.items():
        if isinstance(value, list) and len(value) == layers:
            config[key] = value[:LAYERS]
    if name.startswith("granitemoehybrid"):
        words = {"linear_attention": "mamba", "mamba": "mamba"}
        config["layer_types"] = [words.get(each, "attention") for each in config["layer_types"]]
    return {**config, "num_hidden_layers": min(layers, LAYERS), **KEYS[name]}


def published(kind, name, shape):
    """Names and shapes in published files of a tensor that transformers 5 stacks or renames."""
    gate, up, down = "gate_proj", "up_proj", "down_proj"
    if kind in ("kimi_linear", "minimax_m3_vl_text"):
        gate, up, down = "w1", "w3", "w2"
        name = re.sub(r"\.mlp\.(experts|shared_experts|gate\.)", r".block_sparse_moe.\1", name)
    if kind == "granitemoehybrid":
        name = name.replace("router.weight", "router.layer.weight").replace("experts.gate_up_proj", "input_linear.weight")
        return [(name.replace("experts.down_proj", "output_linear.weight"), shape)]
    if kind == "hy_v3":
        name = name.replace("mlp.e_score_correction_bias", "mlp.expert_bias")
    stem = name[: name.rfind(".") + 1]
    if name.endswith(".experts.gate_up_proj"):
        half = [shape[1] // 2, shape[2]]
        return [(f"{stem}{i}.{each}.weight", half) for i in range(shape[0]) for each in (gate, up)]
    if name.endswith(".experts.down_proj"):
        return [(f"{stem}{i}.{down}.weight", shape[1:]) for i in range(shape[0])]
    if name.endswith("shared_experts.gate_up_proj.weight"):
        return [(name.replace("gate_up", each), [shape[0] // 2, shape[1]]) for each in ("gate", "up")]
    if kind == "kimi_linear":
        name = name.replace("forget_gate.", "")
        if name.endswith("self_attn.conv1d.weight"):
            return [(name.replace("conv1d", each + "_conv1d"), [shape[0] // 3, *shape[1:]]) for each in "qkv"]
    return [(name, shape)]


def tensors_of(folder, name, config):
    """Tensors as published, with few experts and tokens. Sets the numbers in `config`."""
    listed = json.loads(Path(folder, "tensors", name + ".json").read_text())
    rows = [*listed["params"], *(row for row in listed["buffers"] if "correction_bias" in row[0])]
    experts = next((config[key] for key in COUNTS if key in config), 0)
    tokens, config["vocab_size"] = config["vocab_size"], TOKENS
    if experts > EXPERTS:
        config.update({key: EXPERTS for key in COUNTS if key in config})
        config.update({key: 2 for key in ("num_experts_per_tok", "num_experts_per_token") if key in config})
    tensors = {}
    for path, shape, *_ in rows:
        layer = re.search(r"(?:^|\.)layers\.(\d+)\.", path)
        if layer and int(layer[1]) >= LAYERS or path in listed["tied"]:
            continue
        routed = re.search(r"experts\.|gate\.|router|correction", path) and "shared" not in path
        if shape and shape[0] in (tokens, experts if routed and experts else tokens):
            shape = [TOKENS if shape[0] == tokens else min(shape[0], EXPERTS), *shape[1:]]
        tensors.update(published(config["model_type"], path, shape))
    return tensors


def lazy(shape):
    shape, dtype = shape if isinstance(shape, tuple) else (shape, torch.bfloat16)
    meta = torch.empty(shape, dtype=dtype, device="meta")
    return LazyTorchTensor(meta=meta, args=(), func=lambda: torch.zeros(shape, dtype=dtype))


def vocabulary(tokens):
    def set_vocab(self):
        self.gguf_writer.add_tokenizer_model("gpt2")
        self.gguf_writer.add_token_list([f"t{i}" for i in range(tokens)])

    return set_vocab


def convert(name, config, tensors, out, tokens=2, load=ModelBase.load_hparams):
    """Writes small__NAME.gguf and .json. `tensors`: name -> shape, or (shape, dtype)."""
    where = Path(tempfile.mkdtemp())
    Path(where, "config.json").write_text(json.dumps(config))
    Path(where, "tokenizer.json").write_text(json.dumps({"model": {"vocab": {f"t{i}": i for i in range(tokens)}, "type": "Unigram"}, "added_tokens": []}))
    Path(where, "tokenizer_config.json").write_text("{}")

    def index(self, remote_hf_model_id=None):
        found = [self.filter_tensors((k, lambda v=v: lazy(v))) for k, v in tensors.items()]
        return dict(item for item in found if item is not None)

    ModelBase.load_hparams = staticmethod(lambda where, is_mistral_format=False: {**load(where, False), **config})
    ModelBase.index_tensors = index
    cls = get_model_class(get_model_architecture(ModelBase.load_hparams(where), ModelType.TEXT))
    for each in cls.__mro__:
        if "set_vocab" in each.__dict__:
            each.set_vocab = vocabulary(tokens)
        each.__dict__.get("lerp_weights", {}).clear()  # RWKV's classes keep those of the model before
    path = Path(out, f"small__{name}.gguf")
    with torch.inference_mode():
        model = cls(where, container.LlamaFileType.MOSTLY_F16, path, eager=False, target_model_dir=where)
        model.prepare_tensors()
        model.prepare_metadata(vocab_only=False)
        writer = model.gguf_writer
        writer.write_header_to_file(path=path)
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        for file in writer.fout:
            file.close()
    data = sum(writer.ggml_pad(t.nbytes, writer.data_alignment) for s in writer.tensors for t in s.values())
    text = json.dumps({"data": data, "config": config}, separators=(",", ":"))
    Path(out, f"small__{name}.json").write_text(text)


def make(name, folder, out):
    config = config_of(folder, name)
    convert(name, config, tensors_of(folder, name, config), out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for each in KEYS:
        make(each, *sys.argv[1:])
