// What most decoders name and configure alike: class names built from the family's own, the rotated
// share of a head, kinds of layers, and the layer of attention and feed-forward behind norms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/activation_function.hpp"
#include "model/blocks/blocks.hpp"
#include "model/config.hpp"

namespace headroom::model {

/// Class names of a family: Classes{"Mixtral"}("Attention") is "MixtralAttention".
struct Classes {
  std::string_view family;
  std::string operator()(std::string_view suffix) const {
    return std::string(family) + std::string(suffix);
  }
};

/// Dimensions of a head that `rope` (rope_parameters, or one kind's part of them) rotates:
/// int(head_dim * partial_rotary_factor), `factor` where it does not say. The proportional type
/// keeps a frequency for all of them. Source: transformers 5.23, modeling_rope_utils.py.
inline Size rotated_by(const Config& rope, Size head_dim, double factor) {
  if (rope.text({"rope_type", "type"}, "default") == "proportional") return head_dim;
  const double share = rope.number({"partial_rotary_factor"}, factor);
  if (!(share > 0 && share <= 1))
    rope.fail("partial_rotary_factor",
              "found " + std::to_string(share) + ", expected above 0 to 1");
  return static_cast<Size>(static_cast<double>(head_dim) * share);
}

/// The same by the config: rope_parameters (or rope_scaling), else partial_rotary_factor beside
/// them, else `factor`. Source: the same, convert_rope_params_to_dict.
inline Size rotated_dims(const Config& c, Size head_dim, double factor = 1.0) {
  return rotated_by(c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters"),
                    head_dim, c.number({"partial_rotary_factor"}, factor));
}

/// The same for classes whose own tables rotate whole heads: only the scaled kinds of rope (linear,
/// yarn, llama3, ...) know of a share there. Source: the same, and compute_default_rope_parameters
/// of each modeling file.
inline Size rotated_if_scaled(const Config& c, Size head_dim) {
  const Config rope =
      c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters");
  return rope.text({"rope_type", "type"}, "default") == "default" ? head_dim
                                                                  : rotated_dims(c, head_dim);
}

/// Rotary tables of each kind of layer, by the kind's own rope_parameters; `factor(kind)` where
/// they do not say how much of a head is rotated.
template <class Factor>
Part rotary_by_kind(const Config& c, std::string_view class_name,
                    const std::vector<std::string>& kinds, Size head_dim, Factor factor) {
  Part tables;
  const Config all = c.section_or_empty("rope_parameters");
  for (const auto& kind : kinds) {
    if (c.has("rope_parameters") && !all.has(kind)) continue;
    const Size dims = rotated_by(all.section_or_empty(kind), head_dim, factor(kind));
    tables = std::move(tables) + buffer(kind + "_inv_freq", {(dims + 1) / 2}) +
             buffer(kind + "_original_inv_freq", {(dims + 1) / 2});
  }
  return in("rotary_emb", class_name, std::move(tables));
}

/// Entry `i` of a per-layer list of the config; throws where the list is too short.
inline const std::string& layer_type(const Config& c, const std::vector<std::string>& types, Size i,
                                     std::string_view key = "layer_types") {
  if (static_cast<std::size_t>(i) >= types.size())
    c.fail(key, "found " + std::to_string(types.size()) + " entries, expected one for each layer");
  return types[static_cast<std::size_t>(i)];
}

/// Sliding window of layer `i` in tokens, 0 without one: `window` where `layer_types` calls the
/// layer "sliding_attention", or `otherwise` where the config has no such list.
inline Size window_of(const Config& c, Size i, Size window, Size otherwise) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return otherwise;
  return layer_type(c, types, i) == "sliding_attention" ? window : 0;
}

/// Norms on each head's queries and keys (arXiv:2010.04245).
inline Part head_norms(std::string_view norm_class, Size head_dim) {
  return rms_norm("q_norm", norm_class, head_dim) + rms_norm("k_norm", norm_class, head_dim);
}

/// Norms over all queries and all keys of a layer (OLMo 2, arXiv:2501.00656).
inline Part layer_norms(std::string_view norm_class, Heads h) {
  return rms_norm("q_norm", norm_class, h.query * h.dim) +
         rms_norm("k_norm", norm_class, h.kv * h.dim);
}

/// The gated feed-forward of `intermediate_size` as child `mlp`.
inline Part dense_mlp(const Config& c, Classes k, Bias bias = Bias::no,
                      std::string_view name = "mlp") {
  return in(name, k("MLP"),
            gated_mlp(c.dim({"hidden_size"}), c.dim({"intermediate_size"}),
                      activation_class(c, {"hidden_act"}, "silu"), bias));
}

/// Heads with what the family assumes for keys that are absent.
inline Heads heads_of(const Config& c, Size kv, Size dim) {
  return {c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}, kv),
          c.dim({"head_dim"}, dim)};
}

/// Attention and feed-forward, each behind its norm.
inline Part decoder_layer(Classes k, Size hidden, Part attention, Part feed_forward) {
  return in("self_attn", k("Attention"), std::move(attention)) + std::move(feed_forward) +
         rms_norm("input_layernorm", k("RMSNorm"), hidden) +
         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
}

}  // namespace headroom::model
