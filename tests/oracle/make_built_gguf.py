#!/usr/bin/env python3
"""Makes further small__ headers of data/gguf.tar.gz: llama.cpp's converter on small models that transformers builds.

usage: make_built_gguf.py OUT_FOLDER

Needs what make_small_gguf.py needs, with transformers 5.24.0. Names are turned into those of published files, and
the config gets the keys of published config.json files that the converter reads.
"""
import json
import re
import sys

import make_small_gguf as small
import torch
import transformers

KINDS = ["linear_attention"] * 3 + ["full_attention"]
TEXT = {"hidden_size": 256, "num_hidden_layers": 4, "layer_types": KINDS, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
        "num_attention_heads": 4, "vocab_size": 1000, "eos_token_id": 5, "pad_token_id": 0, "max_position_embeddings": 2048}
MODELS = {
    "glm5_next": ("Glm5NextForConditionalGeneration", {
        "n_routed_experts": 4, "intermediate_size": 384, "num_key_value_heads": 4, "linear_num_heads": 4, "linear_head_dim": 64,
        "q_lora_rank": 128, "kv_lora_rank": 64, "qk_nope_head_dim": 64, "qk_rope_head_dim": 0, "v_head_dim": 64,
        "index_n_heads": 2, "index_head_dim": 64, "index_topk": 64, "mlp_layer_types": ["dense"] + ["sparse"] * 3}, {
        "mla_use_nope": True, "first_k_dense_replace": 1, "rope_theta": 1e4,
        "linear_attn_config": {"num_heads": 4, "head_dim": 64, "short_conv_kernel_size": 4, "gate_lower_bound": -5.0}}),
    "qwen4_exp": ("Qwen4ExpForConditionalGeneration", {
        "num_experts": 4, "shared_expert_intermediate_size": 128, "num_key_value_heads": 2, "head_dim": 64,
        "hc_lowrank": 64, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 64,
        "linear_value_head_dim": 64, "indexer_n_heads": 2, "indexer_kv_heads": 1, "indexer_head_dim": 64, "indexer_budget": 64,
        "indexer_compress_ratio": 4, "ple_layer_ids": [2], "ple_embed_dim": 256, "heads_per_ngram": 2,
        "ngram_vocab_size_base": 500, "split_ngram_parts": 1}, {}),
}


def published_glm5_next(name, shape):
    """Names of GLM-5.3-Flash's files: experts and convolutions one by one."""
    name = name.replace("forget_gate.", "").replace("model.language_model.", "model.")
    name = re.sub(r"\.(attn|ffn)_hc\.(fn|base|scale)", r".hc_\1_\2", name)
    if name.endswith("self_attn.conv1d.weight"):
        return [(name.replace("conv1d", f"{each}_conv1d"), [shape[0] // 3, *shape[1:]]) for each in "qkv"]
    return small.published("glm5_next", name, shape)


def published_qwen4_exp(name, shape):
    """Names of Qwen3.8-Flash-Next's files: the table of hashed embeddings in parts."""
    if name.endswith(("layer_multipliers", "ngram_heads_offsets", "ngram_heads_vocab_sizes")):
        return [(name, (shape, torch.int64))]
    return [(name.replace("ngram_embedding.weight", "ngram_embedding.shard_0"), shape)]


def make(name, out):
    class_name, text, more = MODELS[name]
    cls = getattr(transformers, class_name)
    config = cls.config_class(text_config={**TEXT, **text}, vision_config={"depth": 1})
    with torch.device("meta"):
        state = cls(config).state_dict()
    tensors = {}
    for path, tensor in state.items():
        if ".visual." not in path:
            tensors.update(globals()[f"published_{name}"](path, list(tensor.shape)))
    keys = json.loads(config.to_json_string(use_diff=False))
    keys["architectures"] = [class_name]
    keys["text_config"] |= {"layer_types": KINDS, **more}
    small.convert(name, keys, tensors, out)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for each in MODELS:
        make(each, sys.argv[1])
