// Jet-Nemotron (arXiv:2508.15884): Qwen2's layer, whose attention is full, behind a window, or a
// JetBlock. A JetBlock is a gated delta rule whose convolution over values is made anew for every
// token.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::jet_nemotron {

const Classes k{"JetNemotron"};

/// Source: SGLang 0.5.23 jet_nemotron.py and configs/jet_nemotron.py, whose states count keys in
/// the convolution too.
Part jet_block(const Config& own, Size hidden) {
  const Size heads = own.dim({"num_heads"}), key = own.dim({"head_dim"});
  const Size value =
      whole_width(own, "expand_v", static_cast<double>(key) * own.number({"expand_v"}, 1));
  const Size kernel = own.dim({"conv_size"}), values = heads * value, keys = heads * key;
  const Size narrow = values / own.dim({"dconv_generator_reduction"});
  Part p = tensor("A_log", {heads}, Role::other) + tensor("dt_bias", {heads}, Role::other) +
           linear("q_proj", hidden, keys) + linear("k_proj", hidden, keys) +
           linear("v_proj", hidden, values) + linear("b_proj", hidden, heads) +
           linear("a_proj", hidden, heads) + linear("g_proj", hidden, values) +
           in("dynamic_conv1d", k("DynamicShortConvolution"),
              in("kernel_generator", k("KernelGenerator"),
                 linear("w1", hidden, narrow) + linear("w2", narrow, values * kernel, Bias::yes))) +
           rms_norm("o_norm", k("RMSNormGated"), value) + linear("o_proj", values, hidden);
  p.caches = {recurrent_state(values + 2 * keys, kernel, times({heads, key, value}))};
  return p;
}

/// Source: SGLang 0.5.23 jet_nemotron.py.
Part jet_nemotron(const Config& c) {
  const Common s = common_of(c);
  const auto types = layer_types_or(c, s.layers, {}, {"attn", "swa", "jet"});
  if (types.empty()) c.fail("layer_types", "is missing, expected attn, swa or jet for each layer");
  const Config kinds = c.section_or_empty("efficient_attention_config");
  const Config swa = kinds.section_or_empty("swa"), jet = kinds.section_or_empty("jet");
  const auto attends = [&](Size window) {
    return in("self_attn", k("Attention"),
              attention(s.hidden, s.heads, Bias::yes, Bias::no, window));
  };
  return causal_lm(c, k("Model"),
                   trunk(c,
                         {"JetNemotron", rms_norm("norm", k("RMSNorm"), s.hidden),
                          rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim))},
                         [&](Size i) {
                           const std::string& type = types[static_cast<std::size_t>(i)];
                           return (type == "jet"
                                       ? in("self_attn", k("JetBlock"), jet_block(jet, s.hidden))
                                   : type == "swa" ? attends(swa.dim({"window_size"}))
                                                   : attends(0)) +
                                  gated_rest(s, "JetNemotron");
                         }));
}

}  // namespace headroom::model::families::jet_nemotron
