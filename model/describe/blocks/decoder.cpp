#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {

Size rotated_by(const Config& rope, Size head_dim, double factor) {
  if (rope.text({"rope_type", "type"}, "default") == "proportional") return head_dim;
  const double share = rope.number({"partial_rotary_factor"}, factor);
  if (!(share > 0 && share <= 1))
    rope.fail("partial_rotary_factor",
              "found " + std::to_string(share) + ", expected above 0 to 1");
  return static_cast<Size>(static_cast<double>(head_dim) * share);
}

Size rotated_dims(const Config& c, Size head_dim, double factor) {
  return rotated_by(c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters"),
                    head_dim, c.number({"partial_rotary_factor"}, factor));
}

Size rotated_if_scaled(const Config& c, Size head_dim) {
  const Config rope =
      c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters");
  return rope.text({"rope_type", "type"}, "default") == "default" ? head_dim
                                                                  : rotated_dims(c, head_dim);
}

const std::string& layer_type(const Config& c, const std::vector<std::string>& types, Size i,
                              std::string_view key) {
  if (static_cast<std::size_t>(i) >= types.size())
    c.fail(key, "found " + std::to_string(types.size()) + " entries, expected one for each layer");
  return types[static_cast<std::size_t>(i)];
}

Size window_of(const Config& c, Size i, Size window, Size otherwise) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return otherwise;
  return layer_type(c, types, i) == "sliding_attention" ? window : 0;
}

Part head_norms(std::string_view norm_class, Size head_dim) {
  return rms_norm("q_norm", norm_class, head_dim) + rms_norm("k_norm", norm_class, head_dim);
}

Part layer_norms(std::string_view norm_class, Heads h) {
  return rms_norm("q_norm", norm_class, h.query * h.dim) +
         rms_norm("k_norm", norm_class, h.kv * h.dim);
}

Part dense_mlp(const Config& c, Classes k, Bias bias, std::string_view name) {
  return in(name, k("MLP"),
            gated_mlp(c.dim({"hidden_size"}), c.dim({"intermediate_size"}),
                      activation_class(c, {"hidden_act"}, "silu"), bias));
}

Heads heads_of(const Config& c, Size kv, Size dim) {
  return {c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}, kv),
          c.dim({"head_dim"}, dim)};
}

Part decoder_layer(Classes k, Size hidden, Part attention, Part feed_forward) {
  return in("self_attn", k("Attention"), std::move(attention)) + std::move(feed_forward) +
         rms_norm("input_layernorm", k("RMSNorm"), hidden) +
         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
}

}  // namespace headroom::model
