// Llama-Nemotron (arXiv:2411.19146, arXiv:2505.00949): Llama whose layers differ. A search chose
// for each layer how many heads share keys, how wide the feed-forward is, and what is left out.
#include <fmt/format.h>

#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::nemotron_nas {

/// One layer of block_configs: its "attention" and "ffn".
struct BlockHalf {
  Config section;
  bool skipped, linear;
};

BlockHalf half_of(const Config& c, Size layer, std::string_view name) {
  const auto& blocks = c.object().at("block_configs");
  const auto wrong = [&](std::string_view what) {
    c.fail("block_configs", fmt::format("layer {}: {}", layer, what));
  };
  if (!blocks.is_array()) c.fail("block_configs", "expected a list of objects");
  const auto& list = blocks.get_array();
  if (static_cast<std::size_t>(layer) >= list.size())
    wrong(fmt::format("found {} entries, expected one for each layer", list.size()));
  const auto& block = list[static_cast<std::size_t>(layer)];
  const auto* half = block.is_object() ? block.get_object().if_contains(name) : nullptr;
  if (half == nullptr || !half->is_object()) wrong(fmt::format("expected an object '{}'", name));
  Config section(half->get_object(),
                 fmt::format("{}: block_configs[{}].{}", c.origin(), layer, name));
  for (const std::string_view key : {"sparsify", "window_length", "num_sink_tokens"})
    if (section.has(key)) section.fail(key, "found a value, expected null: it is not described");
  const bool skipped = section.flag({"no_op"}, false);
  const bool linear = section.flag({"replace_with_linear"}, false);
  return {std::move(section), skipped, linear};
}

/// int(2 · ffn_mult · hidden / 3), rounded up to a multiple of 256.
Size inner_of(const Config& ffn, Size hidden) {
  if (!ffn.has("ffn_mult")) return ffn.dim({"intermediate_size"});
  const double multiple = ffn.number({"ffn_mult"}, 0);
  if (!(multiple > 0 && multiple < 1024))
    ffn.fail("ffn_mult", fmt::format("found {}, expected above 0 and below 1024", multiple));
  const Size inner = static_cast<Size>(2 * multiple * static_cast<double>(hidden) / 3);
  return (inner + 255) / 256 * 256;
}

Part attention_half(const Config& c, const BlockHalf& half, const Common& s, Bias bias) {
  if (half.skipped) return {};
  const Part norm = rms_norm("input_layernorm", "DeciLMRMSNorm", s.hidden);
  if (half.linear)
    return in("self_attn", "DeciLMLinearAttention", linear("linear_attn", s.hidden, s.hidden)) +
           norm;
  const Size group = half.section.dim({"n_heads_in_group"});
  if (s.heads.query % group != 0)
    half.section.fail(
        "n_heads_in_group",
        fmt::format("found {}, expected a divisor of the {} heads", group, s.heads.query));
  const Heads h{s.heads.query, s.heads.query / group, s.heads.dim};
  return in("self_attn", "DeciLMAttention",
            attention(s.hidden, h, c.bias({"qkv_bias"}, bias == Bias::yes), bias)) +
         norm;
}

Part feed_forward_half(const BlockHalf& half, const Common& s, Bias bias) {
  if (half.skipped) return {};
  const Part norm = rms_norm("post_attention_layernorm", "DeciLMRMSNorm", s.hidden);
  if (half.linear)
    return in("mlp", "DeciLMLinearMLP", linear("linear_mlp", s.hidden, s.hidden)) + norm;
  return in("mlp", "DeciLMGatedMLP",
            gated_mlp(s.hidden, inner_of(half.section, s.hidden),
                      half.section.has("hidden_act")
                          ? activation_class(half.section, {"hidden_act"}, "silu")
                          : s.act,
                      bias)) +
         norm;
}

/// Sources: vLLM 0.33 nemotron_nas.py. For halves that are one matrix: llama.cpp,
/// gguf-py/gguf/tensor_mapping.py (self_attn.linear_attn), and modeling_decilm.py of
/// nvidia/Llama-3_1-Nemotron-51B-Instruct. vLLM does not run those.
Part nemotron_nas(const Config& c) {
  if (!c.has("block_configs"))
    c.fail("block_configs",
           "is missing: the layers of this class differ, one entry describes each");
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Common s{hidden, 0, layers, heads_of(c, Defaults{}),
                 activation_class(c, {"hidden_act"}, "silu")};
  const Bias bias = c.bias({"attention_bias", "bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  return causal_lm(c, "DeciLMModel",
                   trunk(c,
                         {"DeciLM", rms_norm("norm", "DeciLMRMSNorm", hidden),
                          rotary("LlamaRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                         [&](Size i) {
                           return attention_half(c, half_of(c, i, "attention"), s, bias) +
                                  feed_forward_half(half_of(c, i, "ffn"), s, mlp);
                         }));
}

}  // namespace headroom::model::families::nemotron_nas
