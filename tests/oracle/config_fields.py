#!/usr/bin/env python3
"""Writes model/describe/catalogue/config_fields.tsv: which keys the config classes of transformers have.

`headroom models lint` calls a key of a config.json unknown where the description did not ask for it
and no list here has it. Run from the root of the project with transformers 5.24.0 installed:
    python3 tests/oracle/config_fields.py
"""
import dataclasses
import pathlib
import re
import warnings

import transformers
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

warnings.filterwarnings("ignore")

# Keys of any config that bear on no tensor: generation, training, loading, and what earlier
# versions of the base class wrote.
GENERAL = """
_attn_implementation activation_dropout attention_dropout attention_softmax_in_fp32 attn_pdrop
aux_loss_alpha auto_map bad_words_ids begin_suppress_tokens bos_token_id cache_implementation
classifier_dropout cls_token_id custom_pipelines decoder_start_token_id diversity_penalty do_sample
early_stopping embd_pdrop encoder_no_repeat_ngram_size eos_token_id ep_size
exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id
gradient_checkpointing ignore_index initial_context_length initializer_range is_decoder
is_llama_config layer_norm_eps layer_norm_epsilon length_penalty masked_softmax_fusion
max_length min_length model_max_length model_type moe_router_dtype no_repeat_ngram_size norm_eps
norm_topk_prob num_beam_groups num_beams num_return_sequences offset_alibi output_attentions
output_router_logits output_scores pad_token_id partial_rotary_factor position_embedding_type prefix
pretraining_tp pruned_heads quantization_config remove_invalid_values repetition_penalty
resid_pdrop return_dict_in_generate rms_norm_eps rope_interleave rope_interleaved rope_scaling
rope_theta router_aux_loss_coef scale_attention_softmax_in_fp32 scale_attn_weights scoring_func
sep_token_id seq_aux suppress_tokens task_specific_params temperature tf_legacy_loss
tie_encoder_decoder tie_weights_ tokenizer_class top_k top_p topk_method torch_dtype torchscript
transformers.js_config typical_p unk_token_id unsloth_version use_bfloat16 use_cache
""".split()

# Keys of published configs in addition to the class: for their own code, or duplicates.
PUBLISHED = {
    "clip_vision_model": "vocab_size",
    "deberta-v2": "padding_idx",
    "deepseek_v2": "moe_layer_freq",
    "deepseek_v3": "moe_layer_freq",
    "deepseek_v32": "moe_layer_freq",
    "falcon": "apply_residual_connection_post_layernorm ff_factor",
    "gemma": "num_image_tokens",
    "gemma2": "sliding_window_size",
    "gemma3_text": "rope_local_base_freq",
    "gemma4": "eoa_token_id vision_soft_tokens_per_image",
    "gemma4_text": "expert_intermediate_size",
    "gemma4_vision": "default_output_length global_head_dim image_seq_length video_seq_length",
    "glm_moe_dsa": "index_share_for_mtp_iteration index_skip_topk_offset index_topk_freq"
    " index_topk_pattern indexer_rope_interleave moe_layer_freq",
    "gpt2": "n_special predict_special_tokens",
    "gpt_neox": "rotary_emb_base",
    "gpt_oss": "experts_per_token",
    "gptj": "rotary summary_activation summary_first_dropout summary_proj_to_labels summary_type"
    " summary_use_proj",
    "mamba": "d_inner",
    "minimax_m2": "attn_type_list mtp_transformer_layers qk_norm_type shared_intermediate_size"
    " use_mtp use_qk_norm use_routing_bias",
    "mistral": "sliding_window_size",
    "modernbert": "global_attn_every_n_layers",
    "nemotron_h": "attention_head_dim time_step_rank",
    "phi3": "attention_bias full_attn_mod interpolate_factor lm_head_bias mlp_bias",
    "qwen2": "use_mrope",
    "qwen2_5_vl": "sliding_window vision_token_id",
    "qwen2_vl": "sliding_window vision_token_id",
    "qwen3_5": "language_model_only",
    "qwen3_5_moe_text": "attn_output_gate full_attention_interval mamba_ssm_dtype mlp_only_layers",
    "qwen3_5_text": "attn_output_gate full_attention_interval mamba_ssm_dtype mlp_only_layers"
    " output_gate_type",
    "qwen3_moe": "max_window_layers",
    "qwen3_next": "use_sliding_window",
    "siglip_vision_model": "num_image_tokens projector_hidden_act",
    "starcoder2": "activation_function mlp_type norm_type",
}

# Types of published configs that another class reads.
SAME_AS = {"kimi_k2": "deepseek_v3"}


def fields(config_class):
    names = {field.name for field in dataclasses.fields(config_class)}
    names |= set(getattr(config_class, "attribute_map", {}))
    try:  # what the class computes from its fields, configs repeat
        names |= set(vars(config_class()))
    except Exception:
        pass
    return names


def main():
    assert transformers.__version__ == "5.24.0", transformers.__version__
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = root / "model/describe/architectures"
    sources = "".join(p.read_text() for p in [*folder.glob("*.?pp"), *folder.glob("table/*.def")])
    table = root / "model/describe/catalogue/config_fields.tsv"
    described = set(re.findall(r'"([A-Za-z0-9_.-]+)"', sources))
    described |= {line.split("\t")[0] for line in table.read_text().splitlines()}
    base = fields(PreTrainedConfig)
    known = {}
    for name in CONFIG_MAPPING:
        for model_type in {name, getattr(CONFIG_MAPPING[name], "model_type", name)}:
            if model_type in described:
                known[model_type] = fields(CONFIG_MAPPING[name]) - base
    for model_type, keys in PUBLISHED.items():
        known[model_type] = known[model_type] | set(keys.split())
    for model_type, like in SAME_AS.items():
        known[model_type] = known[like]
    general = {k for k in base if not k.startswith("_post")} | set(GENERAL)
    lines = ["# Keys of config classes, by model_type. Source: transformers 5.24.0, configuration_*.py;"
             " written by tests/oracle/config_fields.py."]
    lines.append("*\t" + " ".join(sorted(general)))
    lines += [t + "\t" + " ".join(sorted(known[t] - general)) for t in sorted(known)]
    table.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
