// Names and keys that most decoders share. They cover class names built from the family's name, the
// rotated share of a head, and kinds of layers. The common layer is attention and feed-forward,
// each behind a norm.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "model/describe/activation_function.hpp"
#include "model/describe/blocks/blocks.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {

/// Class names of a family: Classes{"Mixtral"}("Attention") is "MixtralAttention".
struct Classes {
  std::string_view family;
  std::string operator()(std::string_view suffix) const {
    return std::string(family) + std::string(suffix);
  }
};

/// Dimensions of a head that `rope` rotates: int(head_dim * partial_rotary_factor). `rope` is
/// rope_parameters, or the part of it for one kind of layer. `factor` is for a `rope` without
/// partial_rotary_factor. The proportional type keeps a frequency for all dimensions. Source:
/// transformers 5.23, modeling_rope_utils.py.
Size rotated_by(const Config& rope, Size head_dim, double factor);

/// Dimensions of a head that the config rotates. It reads rope_parameters (or rope_scaling), else
/// the top-level partial_rotary_factor, else `factor`. Source: transformers 5.23,
/// modeling_rope_utils.py, convert_rope_params_to_dict.
Size rotated_dims(const Config& c, Size head_dim, double factor = 1.0);

/// rotated_dims for classes whose own tables rotate whole heads. There only the scaled kinds of
/// rope (linear, yarn, llama3, ...) know a rotated share. Source: transformers 5.23,
/// modeling_rope_utils.py, and compute_default_rope_parameters of each modeling file.
Size rotated_if_scaled(const Config& c, Size head_dim);

/// Rotary tables of each kind of layer, by the kind's own rope_parameters. `factor(kind)` is the
/// rotated share of a head if they do not give one.
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

/// Entry `i` of a per-layer list of the config. Throws if the list is too short.
const std::string& layer_type(const Config& c, const std::vector<std::string>& types, Size i,
                              std::string_view key = "layer_types");

/// Sliding window of layer `i` in tokens; 0: none. It is `window` if `layer_types` calls the layer
/// "sliding_attention". It is `otherwise` if the config has no such list.
Size window_of(const Config& c, Size i, Size window, Size otherwise);

/// `layer` for a stack whose layers are equal where `kind(i)` is: each kind is described once, by
/// the number of its first layer.
template <class Kind, class Layer>
auto by_kind(Kind kind, Layer layer) {
  return [kind, layer,
          known = std::map<std::decay_t<decltype(kind(Size{}))>, Part>()](Size i) mutable {
    auto [at, is_new] = known.try_emplace(kind(i));
    if (is_new) at->second = layer(i);
    return at->second;
  };
}

/// Norms on each head's queries and keys (arXiv:2010.04245).
Part head_norms(std::string_view norm_class, Size head_dim);

/// Norms over all queries and all keys of a layer (OLMo 2, arXiv:2501.00656).
Part layer_norms(std::string_view norm_class, Heads h);

/// The gated feed-forward of `intermediate_size` as child `mlp`.
Part dense_mlp(const Config& c, Classes k, Bias bias = Bias::no, std::string_view name = "mlp");

/// Heads with the family's defaults for absent keys.
Heads heads_of(const Config& c, Size kv, Size dim);

/// Attention and feed-forward, each behind its norm.
Part decoder_layer(Classes k, Size hidden, Part attention, Part feed_forward);

}  // namespace headroom::model
