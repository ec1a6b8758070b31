#!/usr/bin/env python3
"""Makes further small__ headers of data/gguf.tar.gz: llama.cpp's converter on models whose classes transformers lacks.

usage: make_listed_gguf.py OUT_FOLDER

Needs what make_small_gguf.py needs. Tensors are listed by hand from the modeling code of each model's checkpoints, or from
the engine that reads them. Each function names its source.
"""
import sys
from pathlib import Path

import make_small_gguf as small
import torch

HIDDEN, VOCAB, INNER = 256, 512, 384


def linear(name, rows, columns, bias=False):
    return {f"{name}.weight": [rows, columns], **({f"{name}.bias": [rows]} if bias else {})}


def norm(name, width=HIDDEN, bias=False):
    return {f"{name}.weight": [width], **({f"{name}.bias": [width]} if bias else {})}


def outer(head=True):
    return {"model.embed_tokens.weight": [VOCAB, HIDDEN], **norm("model.norm"),
            **({"lm_head.weight": [VOCAB, HIDDEN]} if head else {})}


def gated(name, inner=INNER, hidden=HIDDEN):
    return {**linear(f"{name}.gate_proj", inner, hidden), **linear(f"{name}.up_proj", inner, hidden),
            **linear(f"{name}.down_proj", hidden, inner)}


def attention(name, query, kv, dim, columns=HIDDEN, hidden=HIDDEN):
    return {**linear(f"{name}.q_proj", query * dim, columns), **linear(f"{name}.k_proj", kv * dim, columns),
            **linear(f"{name}.v_proj", kv * dim, columns), **linear(f"{name}.o_proj", hidden, query * dim)}


def common(cls, kind, layers, **more):
    return {"architectures": [cls], "model_type": kind, "hidden_size": HIDDEN, "vocab_size": VOCAB,
            "num_hidden_layers": layers, "intermediate_size": INNER, "num_attention_heads": 4,
            "num_key_value_heads": 2, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "rope_theta": 1e4, **more}


def plamo2():
    """modeling_plamo.py of pfnet/plamo-2-1b: every second layer is Mamba."""
    t = outer(head=False)
    for i in range(4):
        n = f"model.layers.layers.{i}"
        for each in ("pre_mixer_norm", "post_mixer_norm", "pre_mlp_norm", "post_mlp_norm"):
            t |= norm(f"{n}.{each}")
        t |= linear(f"{n}.mlp.gate_up_proj", 2 * INNER, HIDDEN) | linear(f"{n}.mlp.down_proj", HIDDEN, INNER)
        m = f"{n}.mixer"
        if i % 2 == 1:
            t |= linear(f"{m}.qkv_proj", (4 + 2 * 2) * 64, HIDDEN) | linear(f"{m}.o_proj", HIDDEN, 4 * 64)
            t |= {f"{m}.q_weight": [4, 64], f"{m}.k_weight": [2, 64]}
            continue
        inner, rank, state = 8 * 64, 64, 16
        t |= linear(f"{m}.in_proj", 2 * inner, HIDDEN) | {f"{m}.conv1d.weight": [inner, 1, 4]}
        t |= linear(f"{m}.bcdt_proj", rank + 2 * state, inner) | linear(f"{m}.dt_proj", 8, rank)
        t |= linear(f"{m}.out_proj", HIDDEN, inner)
        t |= {f"{m}.dt_bias": [8], f"{m}.A_log": [8], f"{m}.D": [8], f"{m}.dt_norm_weight": [rank],
              f"{m}.B_norm_weight": [state], f"{m}.C_norm_weight": [state]}
    return common("Plamo2ForCausalLM", "plamo2", 4, hidden_size_per_head=64, mamba_num_heads=8, mamba_d_state=16,
                  mamba_d_conv=4, mamba_step=2, mamba_enabled=True, tie_word_embeddings=True,
                  full_attention_idx=None), t


def plm():
    """modeling_plm.py of PLM-Team/PLM-1.8B-Base."""
    t = outer(head=False)
    for i in range(2):
        n = f"model.layers.{i}"
        t |= norm(f"{n}.input_layernorm") | norm(f"{n}.post_attention_layernorm")
        t |= linear(f"{n}.self_attn.q_proj", 4 * 96, HIDDEN) | linear(f"{n}.self_attn.kv_a_proj_with_mqa", 128 + 32, HIDDEN)
        t |= norm(f"{n}.self_attn.kv_a_layernorm", 128) | linear(f"{n}.self_attn.kv_b_proj", 4 * (64 + 64), 128)
        t |= linear(f"{n}.self_attn.o_proj", HIDDEN, 4 * 64)
        t |= linear(f"{n}.mlp.up_proj", INNER, HIDDEN) | linear(f"{n}.mlp.down_proj", HIDDEN, INNER)
    return common("PLMForCausalLM", "plm", 2, kv_lora_rank=128, qk_nope_head_dim=64, qk_rope_head_dim=32, v_head_dim=64,
                  num_key_value_heads=4, hidden_act="relu2", tie_word_embeddings=True), t


def jina_bert():
    """modeling_bert.py of jinaai/jina-bert-implementation, without norms of queries and keys."""
    t = {"embeddings.word_embeddings.weight": [VOCAB, HIDDEN], "embeddings.token_type_embeddings.weight": [2, HIDDEN],
         **norm("embeddings.LayerNorm", bias=True), **linear("pooler.dense", HIDDEN, HIDDEN, True)}
    for i in range(2):
        n = f"encoder.layer.{i}"
        for each in ("self.query", "self.key", "self.value", "output.dense"):
            t |= linear(f"{n}.attention.{each}", HIDDEN, HIDDEN, True)
        t |= norm(f"{n}.attention.output.LayerNorm", bias=True) | norm(f"{n}.mlp.layernorm", bias=True)
        t |= linear(f"{n}.mlp.gated_layers", 2 * INNER, HIDDEN) | linear(f"{n}.mlp.wo", HIDDEN, INNER, True)
    return common("JinaBertModel", "bert", 2, layer_norm_eps=1e-12, type_vocab_size=2, feed_forward_type="geglu",
                  position_embedding_type="alibi"), t


def nomic_moe():
    """modeling_hf_nomic_bert.py of nomic-ai/nomic-bert-2048: experts in every second layer."""
    t = {"embeddings.word_embeddings.weight": [VOCAB, HIDDEN], "embeddings.token_type_embeddings.weight": [1, HIDDEN],
         **norm("emb_ln", bias=True)}
    for i in range(4):
        n = f"encoder.layers.{i}"
        t |= linear(f"{n}.attn.Wqkv", 3 * HIDDEN, HIDDEN, True) | linear(f"{n}.attn.out_proj", HIDDEN, HIDDEN, True)
        t |= norm(f"{n}.norm1", bias=True) | norm(f"{n}.norm2", bias=True)
        if i % 2 == 0:
            t |= linear(f"{n}.mlp.fc1", INNER, HIDDEN, True) | linear(f"{n}.mlp.fc2", HIDDEN, INNER, True)
        else:
            t |= linear(f"{n}.mlp.router.layer", 8, HIDDEN) | {f"{n}.mlp.experts.bias": [HIDDEN]}
            t |= {f"{n}.mlp.experts.mlp.w{k}": [8 * INNER, HIDDEN] for k in (1, 2)}
    return {**common("NomicBertModel", "nomic_bert", 4), "n_embd": HIDDEN, "n_head": 4, "n_layer": 4, "n_inner": INNER,
            "n_positions": 2048, "max_trained_positions": 2048, "type_vocab_size": 1, "num_experts": 8, "moe_every_n_layers": 2, "moe_top_k": 2,
            "activation_function": "gelu", "causal": False, "qkv_proj_bias": True, "mlp_fc1_bias": True,
            "mlp_fc2_bias": True, "prenorm": False, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
            "rotary_emb_scale_base": None, "rotary_emb_base": 10000, "layer_norm_epsilon": 1e-5}, t


def deci():
    """modeling_decilm.py of nvidia/Llama-3_1-Nemotron-51B-Instruct: a layer of each kind."""
    kinds = [(2, 1.5), ("linear", 1.5), (None, 3.0), (1, 1.5), (None, None)]
    t, blocks = outer(), []
    for i, (heads, wide) in enumerate(kinds):
        n = f"model.layers.{i}"
        if heads is not None:
            t |= norm(f"{n}.input_layernorm")
        if heads == "linear":
            t |= linear(f"{n}.self_attn.linear_attn", HIDDEN, HIDDEN)
        elif heads is not None:
            t |= attention(f"{n}.self_attn", 4, 4 // heads, 64)
        if wide is not None:
            inner = -(-int(2 * wide * HIDDEN / 3) // 256) * 256
            t |= norm(f"{n}.post_attention_layernorm") | gated(f"{n}.mlp", inner)
        blocks.append({"attention": {"n_heads_in_group": heads if isinstance(heads, int) else None, "no_op": heads is None,
                                     "replace_with_linear": heads == "linear"},
                       "ffn": {"ffn_mult": wide, "no_op": wide is None, "replace_with_linear": False}})
    return common("DeciLMForCausalLM", "nemotron-nas", len(kinds), block_configs=blocks, num_key_value_heads=None,
                  intermediate_size=None, tie_word_embeddings=False), t


def openelm():
    """modeling_openelm.py of apple/OpenELM-270M: heads and widths grow."""
    query, kv, inner = [4, 8, 12], [1, 2, 3], [256, 512, 768]
    t = {"transformer.token_embeddings.weight": [VOCAB, HIDDEN], **norm("transformer.norm")}
    for i in range(3):
        n = f"transformer.layers.{i}"
        t |= linear(f"{n}.attn.qkv_proj", (query[i] + 2 * kv[i]) * 64, HIDDEN)
        t |= linear(f"{n}.attn.out_proj", HIDDEN, query[i] * 64) | norm(f"{n}.attn.q_norm", 64)
        t |= norm(f"{n}.attn.k_norm", 64) | norm(f"{n}.attn_norm") | norm(f"{n}.ffn_norm")
        t |= linear(f"{n}.ffn.proj_1", 2 * inner[i], HIDDEN) | linear(f"{n}.ffn.proj_2", HIDDEN, inner[i])
    return {"architectures": ["OpenELMForCausalLM"], "model_type": "openelm", "model_dim": HIDDEN, "head_dim": 64,
            "num_transformer_layers": 3, "num_query_heads": query, "num_kv_heads": kv, "ffn_multipliers": [1.0, 2.0, 3.0],
            "ffn_dim_divisor": 256, "ffn_with_glu": True, "normalize_qk_projections": True, "vocab_size": VOCAB,
            "max_context_length": 2048, "rope_freq_constant": 10000, "share_input_output_layers": True,
            "activation_fn_name": "swish"}, t


def rwkv7():
    """fla/layers/rwkv7.py of flash-linear-attention: the first layer mixes no values."""
    ranks = {"w": 64, "a": 48, "v": 32, "g": 96}
    t = {"model.embeddings.weight": [VOCAB, HIDDEN], "lm_head.weight": [VOCAB, HIDDEN], **norm("model.norm", bias=True)}
    for i in range(2):
        n = f"model.layers.{i}"
        if i == 0:
            t |= norm(f"{n}.pre_norm", bias=True)
        t |= norm(f"{n}.attn_norm", bias=True) | norm(f"{n}.ffn_norm", bias=True) | norm(f"{n}.attn.g_norm", bias=True)
        t |= {f"{n}.attn.x_{each}": [1, 1, HIDDEN] for each in "rwkvag"}
        t |= {f"{n}.attn.k_k": [HIDDEN], f"{n}.attn.k_a": [HIDDEN], f"{n}.attn.r_k": [4, 64], f"{n}.ffn.x_k": [HIDDEN]}
        for each in "rkvo":
            t |= linear(f"{n}.attn.{each}_proj", HIDDEN, HIDDEN)
        for each, rank in ranks.items():
            if each == "v" and i == 0:
                continue
            t |= linear(f"{n}.attn.{each}_lora.lora.0", rank, HIDDEN)
            t |= linear(f"{n}.attn.{each}_lora.lora.2", HIDDEN, rank, each != "g")
        t |= linear(f"{n}.ffn.key", 4 * HIDDEN, HIDDEN) | linear(f"{n}.ffn.value", HIDDEN, 4 * HIDDEN)
    return {"architectures": ["RWKV7ForCausalLM"], "model_type": "rwkv7", "hidden_size": HIDDEN, "head_dim": 64,
            "intermediate_size": 4 * HIDDEN, "num_hidden_layers": 2, "vocab_size": VOCAB, "norm_eps": 1e-5,
            "norm_bias": True, "decay_low_rank_dim": 64, "a_low_rank_dim": 48, "v_low_rank_dim": 32,
            "gate_low_rank_dim": 96, "tie_word_embeddings": False}, t


def arwkv7():
    """modeling_rwkv_hybrid.py of RWKV-Red-Team/ARWKV-7B-Preview-0.1, whose ranks the code fixes."""
    t = outer()
    for i in range(2):
        n = f"model.layers.{i}"
        t |= norm(f"{n}.input_layernorm") | norm(f"{n}.post_attention_layernorm") | gated(f"{n}.mlp")
        m = f"{n}.self_attn.time_mixer"
        t |= {f"{m}.x_{each}": [1, 1, HIDDEN] for each in "rwkva"}
        for each, rank in {"w": 64, "a": 64, "v": 32}.items():
            if each == "v" and i == 0:
                continue
            t |= {f"{m}.{each}0": [1, 1, HIDDEN], f"{m}.{each}1": [HIDDEN, rank], f"{m}.{each}2": [rank, HIDDEN]}
        t |= {f"{m}.k_k": [1, 1, HIDDEN], f"{m}.k_a": [1, 1, HIDDEN], f"{m}.r_k": [4, 64]}
        for each in ("receptance", "key", "value", "output"):
            t |= linear(f"{m}.{each}", HIDDEN, HIDDEN)
    return common("RwkvHybridForCausalLM", "rwkv_hybrid", 2, head_size=64, wkv_has_gate=False, wkv_has_group_norm=False,
                  wkv_version=7, num_key_value_heads=4, tie_word_embeddings=False), t


def eagle3():
    """vLLM 0.33 llama_eagle3.py: one layer over three hidden states, with a vocabulary of its own."""
    n = "midlayer"
    t = {**attention(f"{n}.self_attn", 4, 2, 64, 2 * HIDDEN), **gated(f"{n}.mlp"), **norm(f"{n}.hidden_norm"),
         **norm(f"{n}.input_layernorm"), **norm(f"{n}.post_attention_layernorm"), **norm("norm"),
         **linear("fc", HIDDEN, 3 * HIDDEN), "lm_head.weight": [128, HIDDEN],
         "d2t": ([128], torch.int64), "t2d": ([VOCAB], torch.bool)}
    return common("LlamaForCausalLMEagle3", "llama", 1, draft_vocab_size=128, tie_word_embeddings=False,
                  eagle_aux_hidden_state_layer_ids=[1, 3, 5], target_hidden_size=HIDDEN), t


def dflash():
    """vLLM 0.33 qwen3_dflash.py: layers of Qwen3 over four hidden states."""
    t = {**norm("norm"), **norm("hidden_norm"), **linear("fc", HIDDEN, 4 * HIDDEN)}
    for i in range(2):
        n = f"layers.{i}"
        t |= attention(f"{n}.self_attn", 4, 2, 64) | gated(f"{n}.mlp") | norm(f"{n}.input_layernorm")
        t |= norm(f"{n}.post_attention_layernorm") | norm(f"{n}.self_attn.q_norm", 64) | norm(f"{n}.self_attn.k_norm", 64)
    return common("DFlashDraftModel", "qwen3", 2, head_dim=64, block_size=8, tie_word_embeddings=False,
                  dflash_config={"target_layer_ids": [1, 3, 5, 7], "mask_token_id": 5}), t


def gemma4_assistant():
    """transformers 5.23, models/gemma4_assistant: layers without keys, between two projections."""
    t = {"model.embed_tokens.weight": [VOCAB, HIDDEN], **norm("model.norm"),
         **linear("pre_projection", HIDDEN, 2 * 640), **linear("post_projection", 640, HIDDEN)}
    for i in range(3):
        n, dim = f"model.layers.{i}", 128 if i == 2 else 64
        t |= linear(f"{n}.self_attn.q_proj", 4 * dim, HIDDEN) | linear(f"{n}.self_attn.o_proj", HIDDEN, 4 * dim)
        t |= norm(f"{n}.self_attn.q_norm", dim) | gated(f"{n}.mlp") | {f"{n}.layer_scalar": [1]}
        for each in ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"):
            t |= norm(f"{n}.{each}")
    text = common("", "gemma4_text", 3, head_dim=64, global_head_dim=128, num_global_key_value_heads=1, sliding_window=128,
                  layer_types=["sliding_attention", "sliding_attention", "full_attention"], num_kv_shared_layers=3,
                  hidden_size_per_layer_input=0, moe_intermediate_size=None, num_experts=None, attention_k_eq_v=False, enable_moe_block=False, use_double_wide_mlp=False,
                  rope_parameters={"full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.25},
                                   "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}})
    del text["architectures"]
    return {"architectures": ["Gemma4AssistantForCausalLM"], "model_type": "gemma4_assistant", "text_config": text,
            "backbone_hidden_size": 640, "tie_word_embeddings": True, "use_ordered_embeddings": False}, t


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    Path(sys.argv[1]).mkdir(exist_ok=True)
    for each in (plamo2, plm, jina_bert, nomic_moe, deci, openelm, rwkv7, arwkv7, eagle3, dflash, gemma4_assistant):
        small.convert(each.__name__, *each(), sys.argv[1], VOCAB)
