// CPM-Ant: relative positions by segment, and separate embeddings for prompts.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::cpmant {

/// Source: transformers 5.23, models/cpmant/{configuration,modeling}_cpmant.py.
Part cpmant_trunk(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"dim_ff"});
  const Size query = c.dim({"num_attention_heads"}), dim = c.dim({"dim_head"});
  const Size segments = c.dim({"segment_types"}, 32);
  const Size prompt = c.count({"prompt_length"}, 32);  // tokens put before every sequence
  const Size prompts = c.count({"prompt_types"}, 32) * prompt;
  const auto norm = [&](std::string_view name) {
    return as_norm(rms_norm(name, "CpmAntLayerNorm", hidden), NormKind::rms_residual);
  };
  // A null probability leaves the inner dropouts out, a zero the outer ones.
  const bool has_dropout = !c.object().contains("dropout_p") || c.has("dropout_p");
  const Part inner_dropout = has_dropout ? module("dropout", "Dropout") : Part{};
  const Part outer_dropout =
      c.number({"dropout_p"}, 0) != 0 ? module("dropout", "Dropout") : Part{};
  const Part layers = stack("layers", "CpmAntTransformerBlock", c.dim({"num_hidden_layers"}), [&] {
    Part attn =
        linear("project_q", hidden, query * dim) + linear("project_k", hidden, query * dim) +
        linear("project_v", hidden, query * dim) + linear("attention_out", query * dim, hidden) +
        module("softmax", "Softmax") + inner_dropout;
    attn.caches = {kv_cache({query, query, dim})};
    attn.caches[0].per_sequence = times({prompt, attn.caches[0].per_token});
    return in("self_att", "CpmAntSelfAttentionBlock",
              norm("layernorm_before_attention") +
                  in("self_attention", "CpmAntAttention", std::move(attn)) + outer_dropout) +
           in("ffn", "CpmAntFFNBlock",
              norm("layernorm_before_ffn") +
                  in("ffn", "CpmAntFeedForward",
                     in("w_in", "CpmAntDenseGatedACT",
                        linear("w_0", hidden, inner) + linear("w_1", hidden, inner) +
                            module("act", "GELU")) +
                         inner_dropout + linear("w_out", inner, hidden)) +
                  outer_dropout);
  });
  return in("encoder", "CpmAntEncoder", layers + norm("output_layernorm")) +
         embedding("segment_embedding", segments, hidden) +
         embedding("input_embedding", c.dim({"vocab_size"}) + prompts, hidden) +
         in("position_bias", "CpmAntSegmentPositionEmbedding",
            tensor("relative_attention_bias",
                   {segments * segments + c.dim({"position_bias_num_buckets"}, 512), query},
                   Role::other));
}
Part cpmant(const Config& c) {
  return in("cpmant", "CpmAntModel", cpmant_trunk(c)) +
         lm_head("", c.dim({"vocab_size"}), c.dim({"hidden_size"}), false);
}

}  // namespace headroom::model::families::cpmant
