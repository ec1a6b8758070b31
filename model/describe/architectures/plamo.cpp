// PLaMo 2 and 3. Four norms in each layer. PLaMo 2 has Mamba between layers of attention
// (arXiv:2509.04897), PLaMo 3 sliding windows.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::plamo {

/// A mixer and a feed-forward, each between two norms.
Part four_norms(Classes k, Size hidden, Size inner, Part mixer) {
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), hidden); };
  return in("mixer", k("Mixer"), std::move(mixer)) +
         in("mlp", k("MLP"),
            linear("gate_up_proj", hidden, 2 * inner) + linear("down_proj", inner, hidden) +
                module("act", "SiLUActivation")) +
         norm("pre_mixer_norm") + norm("post_mixer_norm") + norm("pre_mlp_norm") +
         norm("post_mlp_norm");
}

/// The layers stand in a decoder of their own. The head is tied where the config does not say.
template <class Layer>
Part whole(const Config& c, Classes k, Layer&& layer) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) +
             in("layers", k("Decoder"),
                stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), layer)) +
             rms_norm("norm", k("RMSNorm"), hidden)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, true)),
      {k("DecoderLayer")});
}

/// Window of layer `i` of PLaMo 3. `layer_types` decides, else every sliding_window_pattern-th
/// layer attends to the whole context.
Size plamo3_window(const Config& c, Size i) {
  const Size window = c.dim({"sliding_window"}, 2048);
  return window_of(c, i, window, (i + 1) % c.dim({"sliding_window_pattern"}, 8) == 0 ? 0 : window);
}

/// Source: vLLM 0.33 plamo3.py.
Part plamo3(const Config& c) {
  const Classes k{"Plamo3"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads h = heads_of(c, Defaults{.head_dim = 128});
  return with_norm(whole(c, k,
                         [&](Size i) {
                           return four_norms(k, hidden, inner,
                                             fused_attention(hidden, h, "qkv_proj", "o_proj",
                                                             Bias::no, plamo3_window(c, i)) +
                                                 head_norms(k("RMSNorm"), h.dim));
                         }),
                   k("RMSNorm"), NormKind::rms_plus_1);
}

/// Mamba as PLaMo 2 has it: a step for each head, and norms of step and states.
Part plamo2_mamba(const Config& c, Size hidden) {
  const Classes k{"Plamo2"};
  const Size heads = c.dim({"mamba_num_heads"}), state = c.dim({"mamba_d_state"});
  const Size inner = heads * c.dim({"hidden_size_per_head"}), kernel = c.dim({"mamba_d_conv"});
  const Size rank = std::max<Size>(64, hidden / 16);
  Part p = tensor("dt_bias", {heads}, Role::other) + tensor("A_log", {heads}, Role::other) +
           tensor("D", {heads}, Role::other) + linear("in_proj", hidden, 2 * inner) +
           depthwise_conv("conv1d", inner, kernel, Bias::no) +
           linear("bcdt_proj", inner, rank + 2 * state) + linear("dt_proj", rank, heads) +
           rms_norm("dt_norm", k("RMSNorm"), rank) + rms_norm("B_norm", k("RMSNorm"), state) +
           rms_norm("C_norm", k("RMSNorm"), state) + linear("out_proj", inner, hidden);
  p.caches = {recurrent_state(inner, kernel, times({inner, state}))};
  return p;
}

/// Sources: vLLM 0.25 plamo2.py; llama.cpp src/models/plamo2.cpp.
Part plamo2(const Config& c) {
  const Classes k{"Plamo2"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads h{c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}),
                c.dim({"hidden_size_per_head"}, 128)};
  const bool mamba = c.flag({"mamba_enabled"}, true);
  const Size step = c.dim({"mamba_step"}, 2), layers = c.dim({"num_hidden_layers"});
  const Part attends = fused_attention(hidden, h, "qkv_proj", "o_proj", Bias::no,
                                       c.dim_or_none({"sliding_window"}, 0)) +
                       tensor("q_weight", {h.query, h.dim}, Role::norm) +
                       tensor("k_weight", {h.kv, h.dim}, Role::norm);
  const Part recurrent = mamba ? plamo2_mamba(c, hidden) : Part{};
  // With few layers only the last attends.
  const auto types = layer_types(c, layers,
                                 [&](Size i) {
                                   const bool attention =
                                       layers <= step / 2 ? i == layers - 1 : i % step == step / 2;
                                   return mamba && !attention ? "mamba" : "full_attention";
                                 },
                                 {"mamba", "full_attention"});
  return with_norm(whole(c, k,
                         [&](Size i) {
                           return four_norms(
                               k, hidden, inner,
                               layer_type(c, types, i) == "mamba" ? recurrent : attends);
                         }),
                   k("RMSNorm"), NormKind::rms_plus_1);
}

}  // namespace headroom::model::families::plamo
