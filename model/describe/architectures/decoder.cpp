// Functions that the decoder families share.
#include "model/describe/architectures/decoder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <set>

#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families {

Heads heads_of(const Config& c, Defaults defaults) {
  const Size query = c.dim({"num_attention_heads"});
  const Size kv = c.dim_or_none({"num_key_value_heads"}, defaults.kv_heads);
  const Size dim = c.dim_or_none({"head_dim"}, defaults.head_dim);
  const Size hidden = c.dim({"hidden_size"});
  if (dim == 0 && hidden % query != 0)
    c.fail("num_attention_heads",
           fmt::format("found {}, expected a divisor of hidden_size ({}), or a head_dim", query,
                       hidden));
  return {query, kv == 0 ? query : kv, dim == 0 ? hidden / query : dim};
}

Common common_of(const Config& c, Defaults defaults) {
  return {c.dim({"hidden_size"}), c.dim({"intermediate_size"}), c.dim({"num_hidden_layers"}),
          heads_of(c, defaults),
          activation_class(c, {"hidden_act", "hidden_activation"}, defaults.act)};
}

std::vector<std::string> layer_types_or(const Config& c, Size layers,
                                        std::vector<std::string> absent,
                                        std::initializer_list<std::string_view> known) {
  const bool listed = c.has("layer_types");
  const std::vector<std::string> types = listed ? c.texts({"layer_types"}) : std::move(absent);
  if (listed && static_cast<Size>(types.size()) != layers)
    c.fail("layer_types",
           fmt::format("found {} types, expected one for each of {} layers", types.size(), layers));
  for (const auto& type : types)
    if (std::find(known.begin(), known.end(), type) == known.end())
      c.fail("layer_types",
             fmt::format("found '{}', expected one of {}", type, fmt::join(known, ", ")));
  return types;
}

std::vector<std::string> every_nth_full(const Config& c, Size layers, Size pattern) {
  return layer_types(c, layers, [&](Size i) {
    return (i + 1) % pattern == 0 ? "full_attention" : "sliding_attention";
  });
}

Config layer_section(const Config& c, Size i) {
  const Config each = c.section_or_empty("per_layer_config");
  for (const auto& [key, value] : each.object()) {
    Size layer = -1;
    std::from_chars(key.data(), key.data() + key.size(), layer);
    if (layer == i && value.is_object()) return each.section(key);
  }
  return each.section_or_empty("");
}

Part rotary_by_type(const Config& c, std::string_view class_name,
                    const std::vector<std::string>& types, Size head_dim) {
  Part tables;
  const Config all = c.section_or_empty("rope_parameters");
  for (const auto& type : std::set<std::string>(types.begin(), types.end())) {
    const Config rope = all.section_or_empty(type);
    const bool plain = rope.text({"rope_type", "type"}, "default") == "default";
    const Size dims = plain ? head_dim : rotated_by(rope, head_dim, 1.0);
    tables = std::move(tables) + buffer(type + "_inv_freq", {(dims + 1) / 2}) +
             buffer(type + "_original_inv_freq", {(dims + 1) / 2});
  }
  return in("rotary_emb", class_name, std::move(tables));
}

Part layers_repeated(Part part, std::string_view scope, Size first, Size last, Size passes) {
  std::set<std::string> paths;
  for (Size i = first; i < last; ++i) paths.insert(std::string(scope) + '.' + std::to_string(i));
  for (Module& m : part.modules)
    if (paths.contains(m.path)) m.passes = passes;
  return part;
}

Part cached_by_each(Part part, Size passes) {
  for (Cache& c : part.caches)
    for (Size* size :
         {&c.per_token, &c.per_sequence, &c.per_step, &c.scanned, &c.in_fp32, &c.score_dims,
          &c.expanded_per_token, &c.padded_per_token, &c.entry_bytes, &c.sm100_entry_bytes})
      *size = times({passes, *size});
  return part;
}

Part causal_lm(const Config& c, std::string_view class_name, Part body, Tied tied, Bias head_bias) {
  return in("model", class_name, std::move(body)) +
         lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}), c.dim({"hidden_size"}),
                 c.flag({"tie_word_embeddings"}, tied == Tied::yes), head_bias);
}

}  // namespace headroom::model::families

namespace headroom::model {

Config with_routed_experts(const Config& c) {
  return c.has("num_experts") ? c.renamed({{"num_experts", "n_routed_experts"}}) : c;
}

}  // namespace headroom::model

namespace headroom::model::families {

Part up_down_mlp(const Common& s, Part activation, Bias bias) {
  return linear("up_proj", s.hidden, s.inner, bias) + linear("down_proj", s.inner, s.hidden, bias) +
         std::move(activation);
}

Part gated_rest(const Common& s, const std::string& family, Bias mlp_bias) {
  return in("mlp", family + "MLP", gated_mlp(s.hidden, s.inner, s.act, mlp_bias)) +
         rms_norm("input_layernorm", family + "RMSNorm", s.hidden) +
         rms_norm("post_attention_layernorm", family + "RMSNorm", s.hidden);
}

}  // namespace headroom::model::families
