// Falcon-H1 (arXiv:2507.22448), Bamba and Falcon Mamba: Mamba layers parallel to attention, between
// attention layers, or instead of attention.
#include <algorithm>

#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::falcon_h1 {

/// The decoder's frame. The norm comes before the rotary tables and is named `final_layernorm`.
template <class Layer>
Part hybrid_decoder(const Config& c, Classes k, Size rotated, Layer&& layer) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) +
             stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), layer) +
             rms_norm("final_layernorm", k("RMSNorm"), hidden) +
             rotary(k("RotaryEmbedding"), rotated)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, false)),
      {k("DecoderLayer")});
}

/// Source: transformers 5.23, models/falcon_h1. Every layer runs both mixers on the same input.
Part falcon_h1(const Config& c) {
  const Classes k{"FalconH1"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size inner =
      c.has("mamba_d_ssm") ? c.dim({"mamba_d_ssm"}) : expanded(c, hidden, "mamba_expand");
  const Mamba2 m = mamba2_of(c, inner);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Part norm = c.flag({"mamba_rms_norm"}, false) ? rms_norm("norm", k("RMSNormGated"), inner)
                                                      : module("norm", "Identity");
  Part mixer = mamba2_parameters(m) + module("act", act) +
               depthwise_conv("conv1d", m.convolved(), m.kernel, m.conv_bias) +
               linear("in_proj", hidden, m.projected(), m.bias) + norm +
               linear("out_proj", inner, hidden, c.bias({"projectors_bias"}, false)) +
               buffer("mup_vector", {1, 1, m.projected()});
  mixer.caches = {mamba2_state(m)};
  const Part layer = dense_mlp(c, k, c.bias({"mlp_bias"}, false), "feed_forward") +
                     in("mamba", k("Mixer"), mixer) +
                     in("self_attn", k("Attention"), attention(hidden, heads, bias, bias)) +
                     rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                     rms_norm("pre_ff_layernorm", k("RMSNorm"), hidden);
  return hybrid_decoder(c, k, rotated_if_scaled(c, heads.dim), [&] { return layer; });
}

/// Source: transformers 5.23, models/bamba. The layers of `attn_layer_indices` have attention.
Part bamba(const Config& c) {
  const Classes k{"Bamba"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Mamba2 m = mamba2_of(c, expanded(c, hidden, "mamba_expand"));
  const auto attending = c.dims({"attn_layer_indices"});
  const Part shared = dense_mlp(c, k, c.bias({"mlp_bias"}, false), "feed_forward") +
                      rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                      rms_norm("pre_ff_layernorm", k("RMSNorm"), hidden);
  const Part mamba =
      in("mamba", k("Mixer"),
         mamba2_mixer(hidden, m, k("RMSNormGated"), activation_class(c, {"hidden_act"}, "silu")));
  const Part attn = in("self_attn", k("Attention"), attention(hidden, heads, bias, bias));
  const Config rope =
      c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters");
  const Size rotated = rotated_by(rope, heads.dim, 0.5);
  return with_quirks(hybrid_decoder(c, k, rotated,
                                    [&](Size i) {
                                      const bool attends =
                                          std::find(attending.begin(), attending.end(), i) !=
                                          attending.end();
                                      return shared + (attends ? attn : mamba);
                                    }),
                     {.attention = {.rotation = Rotation::concatenated}});
}

}  // namespace headroom::model::families::falcon_h1
