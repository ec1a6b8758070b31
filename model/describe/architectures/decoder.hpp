// The frame of Llama: embeddings, equal layers, a final norm, one rotary table and an output head.
// Most later decoders changed only the layer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/describe/activation_function.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families {

/// The keys that nearly every decoder has.
struct Common {
  Size hidden, inner, layers;
  Heads heads;
  std::string act;  ///< class of the activation module
};

/// Defaults of a config class for absent keys.
struct Defaults {
  Size kv_heads = 0;  ///< 0: as many as query heads
  Size head_dim = 0;  ///< 0: hidden_size / num_attention_heads
  std::string_view act = "silu";
};

/// Reads hidden_size, intermediate_size, num_hidden_layers, the heads and hidden_act (or
/// hidden_activation).
Common common_of(const Config& c, Defaults defaults = {});
/// Heads with a config class's own defaults.
Heads heads_of(const Config& c, Defaults defaults);

/// The config's `layer_types`, or `absent` if it has none. Throws ConfigError if the list does not
/// have `layers` entries, and if a type is not in `known`.
std::vector<std::string> layer_types_or(const Config& c, Size layers,
                                        std::vector<std::string> absent,
                                        std::initializer_list<std::string_view> known);
/// layer_types_or with `fallback(i)` as the type of layer i for a config without a list.
template <class Fallback>
std::vector<std::string> layer_types(const Config& c, Size layers, Fallback&& fallback,
                                     std::initializer_list<std::string_view> known = {
                                         "full_attention", "sliding_attention"}) {
  std::vector<std::string> absent;
  if (!c.has("layer_types"))
    for (Size i = 0; i < layers && i < most_layers; ++i) absent.push_back(fallback(i));
  return layer_types_or(c, layers, std::move(absent), known);
}
/// Every `pattern`-th layer attends to the whole context, the others to a window.
std::vector<std::string> every_nth_full(const Config& c, Size layers, Size pattern);
/// The sliding window of a layer of that type in tokens: `window` or none.
inline Size window_of(const std::string& layer_type, Size window) {
  return layer_type == "sliding_attention" ? window : 0;
}

/// Keys that layer `i` overrides. Files written by transformers 5 keep them in per_layer_config,
/// under the layer's number ("05").
Config layer_section(const Config& c, Size i);

/// Rotary tables of whole heads, one for each kind of layer, in alphabetical order. Kinds without
/// an entry in rope_parameters also have a table, because the config class fills it in. Only scaled
/// rotary embeddings rotate a share of the head.
Part rotary_by_type(const Config& c, std::string_view class_name,
                    const std::vector<std::string>& types, Size head_dim);

/// `part` with the modules scope.first to scope.(last - 1) that a token runs through `passes`
/// times.
Part layers_repeated(Part part, std::string_view scope, Size first, Size last, Size passes);
/// `part` whose caches hold the content of each of `passes` runs.
Part cached_by_each(Part part, Size passes);

/// A decoder without its head. The class names are `family` + "DecoderLayer" and so on.
struct Trunk {
  std::string family;  ///< "Llama"
  Part norm;           ///< the final norm
  Part rotary{};       ///< tables of the whole model
};

/// The content of the decoder module; `layer(i)` is the content of layer i.
template <class Layer>
Part trunk(const Config& c, const Trunk& t, Layer&& layer) {
  const std::string block = t.family + "DecoderLayer";
  return unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}), c.dim({"hidden_size"})) +
                          stack("layers", block, c.dim({"num_hidden_layers"}), layer) + t.norm +
                          t.rotary,
                      {block});
}

/// A trunk with the names, the norm and the table that most families have.
template <class Layer>
Part trunk(const Config& c, Classes k, Size rotated, Layer&& layer) {
  return trunk(c,
               Trunk{std::string(k.family), rms_norm("norm", k("RMSNorm"), c.dim({"hidden_size"})),
                     rotary(k("RotaryEmbedding"), rotated)},
               layer);
}

enum class Tied : bool { no, yes };

/// `body` as the child "model" of class `class_name`, and the head. `tied` applies if the config
/// does not say.
Part causal_lm(const Config& c, std::string_view class_name, Part body, Tied tied = Tied::no,
               Bias head_bias = Bias::no);

/// A whole causal language model: a `Trunk` and its head.
struct Decoder {
  std::string family;    ///< "Llama": LlamaModel, LlamaDecoderLayer, LlamaRotaryEmbedding
  Size rotated;          ///< rotated dimensions of a head
  Part norm;             ///< the final norm
  Tied tied = Tied::no;  ///< applies if the config does not say
  Bias head_bias = Bias::no;
};
template <class Layer>
Part decoder(const Config& c, const Decoder& d, Layer&& layer) {
  return causal_lm(
      c, d.family + "Model",
      trunk(c, {d.family, d.norm, rotary(d.family + "RotaryEmbedding", d.rotated)}, layer), d.tied,
      d.head_bias);
}

/// A decoder with the names and the norm that most families have.
template <class Layer>
Part decoder(const Config& c, Classes k, Size rotated, Layer&& layer) {
  return decoder(c,
                 Decoder{.family = std::string(k.family),
                         .rotated = rotated,
                         .norm = rms_norm("norm", k("RMSNorm"), c.dim({"hidden_size"}))},
                 layer);
}

/// A feed-forward without a gate: up, down and the activation module.
Part up_down_mlp(const Common& s, Part activation, Bias bias);

/// The rest of Llama's layer after its attention: the gated feed-forward and the norms before both
/// halves.
Part gated_rest(const Common& s, const std::string& family, Bias mlp_bias = Bias::no);

}  // namespace headroom::model::families
