// Moshi's text decoder (Helium 7B with rotation tables in every layer).
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::moshi {

Part wrapped(std::string_view name, Size in_dim, Size out_dim) {
  return in(name, "MoshiLinear", linear("linear", in_dim, out_dim));
}

/// Source: transformers 5.23, models/moshi/{configuration,modeling}_moshi.py, MoshiForCausalLM:
/// ffn_dim counts gate and up together, and the vocabulary has one entry more than the head.
Part moshi_trunk(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_dim"});
  const Heads heads = heads_of(c, {});
  const Size window = c.dim_or_none({"sliding_window"}, 3000);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Size query = heads.query * heads.dim, kv = heads.kv * heads.dim;
  const Part layers = stack("layers", "MoshiDecoderLayer", c.dim({"num_hidden_layers"}), [&](Size) {
    Part attn = wrapped("q_proj", hidden, query) + wrapped("k_proj", hidden, kv) +
                wrapped("v_proj", hidden, kv) + wrapped("o_proj", query, hidden) +
                rotary("MoshiRotaryEmbedding", rotated_if_scaled(c, heads.dim));
    attn.caches = {kv_cache(heads, window)};
    return in("self_attn", "MoshiAttention", std::move(attn)) +
           in("mlp", "MoshiGatingMLP",
              module("activation_fn", act) + linear("fc1", hidden, inner) +
                  linear("fc2", inner / 2, hidden)) +
           rms_norm("input_layernorm", "MoshiRMSNorm", hidden) +
           rms_norm("post_attention_layernorm", "MoshiRMSNorm", hidden);
  });
  return with_norm(unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}) + 1, hidden) +
                                    layers + rms_norm("norm", "MoshiRMSNorm", hidden),
                                {"MoshiDecoderLayer"}),
                   "MoshiRMSNorm", NormKind::rms_raised);
}
Part moshi(const Config& c) {
  return in("model", "MoshiModel", moshi_trunk(c)) +
         lm_head("", c.dim({"vocab_size"}), c.dim({"hidden_size"}), false);
}

}  // namespace headroom::model::families::moshi
