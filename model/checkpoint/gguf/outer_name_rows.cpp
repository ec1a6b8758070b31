// Names outside layers. Source: llama.cpp, gguf-py/gguf/tensor_mapping.py and constants.py (2026).
#include "model/checkpoint/gguf/name_rows.hpp"

namespace headroom::model {
namespace {

constexpr GgufModule outer_names[] = {
    {"embed_tokens", "token_embd"},
    {"word_embeddings", "token_embd"},
    {"tok_embeddings", "token_embd"},
    {"backbone.embeddings", "token_embd"},
    {"model.embeddings", "token_embd"},
    {"wte", "token_embd"},
    {"embed_in", "token_embd"},
    {"embedding", "token_embd"},
    {"embed", "token_embd"},
    {"rwkv.embeddings", "token_embd"},
    {"token_embeddings", "token_embd"},
    {"encoder", "token_embd"},
    {"layer_norm", "enc.output_norm"},
    {"ln_out", "output_norm"},
    {"head", "output"},
    {"lm_head_gain.w_g", "="},
    {"fc", "fc"},
    {"hidden_norm", "enc.output_norm"},
    {"input_norm", "enc.output_norm"},
    {"d2t", "d2t"},
    {"t2d", "="},
    {"pre_projection", "blk.0.nextn.pre_projection|nextn.pre_projection"},
    {"post_projection", "nextn.post_projection"},
    {"shared", "token_embd"},
    {"position_embeddings", "position_embd"},
    {"wpe", "position_embd"},
    {"token_type_embeddings", "token_types"},
    {"embeddings.LayerNorm", "token_embd_norm"},
    {"embeddings.norm", "token_embd_norm"},
    {"word_embeddings_layernorm", "token_embd_norm"},
    {"norm", "output_norm"},
    {"altup_projections.0", "/altup_proj"},
    {"altup_projections.1", "/altup_proj"},
    {"altup_projections.2", "/altup_proj"},
    {"altup_unembed_projections.0", "/altup_unembd_proj"},
    {"altup_unembed_projections.1", "/altup_unembd_proj"},
    {"altup_unembed_projections.2", "/altup_unembd_proj"},
    {"z_L_init", "hrm.z_l_init"},
    {"output_attn_res_norm", "="},
    {"output_attn_res_proj", "output_res_score"},
    {"hc_head.hc_fn", "output_hc_fn"},
    {"hc_head.hc_base", "output_hc_base"},
    {"hc_head.hc_scale", "output_hc_scale"},
    {"model.norm_f", "output_norm"},
    {"backbone.norm_f", "output_norm"},
    {"transformer.norm_f", "output_norm"},
    {"ln_f", "output_norm"},
    {"final_layernorm", "output_norm"},
    {"final_layer_norm", "output_norm"},
    {"encoder.final_layer_norm", "enc.output_norm"},
    {"decoder.final_layer_norm", "dec.output_norm"},
    {"final_norm", "output_norm"},
    {"embedding_norm", "token_embd_norm|output_norm"},
    {"lm_head", "output"},
    {"embed_tokens_per_layer", "per_layer_token_embd"},
    {"per_layer_model_projection", "per_layer_model_proj"},
    {"per_layer_projection_norm", "per_layer_proj_norm"},
    {"embed_out", "output"},
};

}  // namespace

std::span<const GgufModule> gguf_outer_names() { return outer_names; }

}  // namespace headroom::model
