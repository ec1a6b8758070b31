// OpenELM (arXiv:2404.14619): heads and feed-forward grow from layer to layer.
#include <fmt/format.h>

#include <algorithm>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::openelm {

/// The nearest multiple of `divisor`, but not more than a tenth below `value`.
Size rounded(double value, Size divisor) {
  const Size near = std::max(
      divisor, static_cast<Size>(value + static_cast<double>(divisor) / 2) / divisor * divisor);
  return static_cast<double>(near) < 0.9 * value ? near + divisor : near;
}

/// Entry `i` of a list that has one for each layer.
template <class T>
T of_layer(const Config& c, std::string_view key, const std::vector<T>& list, Size i) {
  if (static_cast<std::size_t>(i) >= list.size())
    c.fail(key, fmt::format("found {} entries, expected one for each layer", list.size()));
  return list[static_cast<std::size_t>(i)];
}

/// Sources: llama.cpp conversion/openelm.py and src/models/openelm.cpp; configuration_openelm.py of
/// apple/OpenELM-270M-Instruct.
Part openelm(const Config& c) {
  const Size hidden = c.dim({"model_dim"}), dim = c.dim({"head_dim"});
  const Size vocab = c.dim({"vocab_size"}), divisor = c.dim({"ffn_dim_divisor"}, 256);
  const auto query = c.dims({"num_query_heads"}), kv = c.dims({"num_kv_heads"});
  const auto multiples = c.numbers({"ffn_multipliers"});
  const std::string norm = "OpenELMRMSNorm";
  const bool gated = c.flag({"ffn_with_glu"}, true);
  const bool normed = c.flag({"normalize_qk_projections"}, true);
  const std::string act = activation_class(c, {"activation_fn_name"}, "swish");
  const auto layer = [&](Size i) {
    const Heads h{of_layer(c, "num_query_heads", query, i), of_layer(c, "num_kv_heads", kv, i),
                  dim};
    const double multiple = of_layer(c, "ffn_multipliers", multiples, i);
    if (!(multiple > 0 && multiple < 1024))
      c.fail("ffn_multipliers", fmt::format("found {}, expected above 0", multiple));
    const Size inner = rounded(multiple * static_cast<double>(hidden), divisor);
    return in("attn", "OpenELMMultiHeadCausalAttention",
              fused_attention(hidden, h, "qkv_proj", "out_proj") +
                  (normed ? head_norms(norm, dim) : Part{})) +
           in("ffn", "OpenELMFeedForwardNetwork",
              linear("proj_1", hidden, gated ? 2 * inner : inner) +
                  linear("proj_2", inner, hidden) + module("act", act)) +
           rms_norm("ffn_norm", norm, hidden) + rms_norm("attn_norm", norm, hidden);
  };
  const bool shared = c.flag({"share_input_output_layers"}, true);
  return unsplittable(
      in("transformer", "OpenELMModel",
         embedding("token_embeddings", vocab, hidden) +
             stack("layers", "OpenELMDecoderLayer", c.dim({"num_transformer_layers"}), layer) +
             rms_norm("norm", norm, hidden)) +
          lm_head("transformer.token_embeddings.weight", vocab, hidden, shared),
      {"OpenELMDecoderLayer"});
}

}  // namespace headroom::model::families::openelm
