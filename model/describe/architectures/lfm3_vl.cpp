// LFM3-VL: a text model, and a vision tower of short convolutions and attention like the text
// model's.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::lfm3_vl {

Submodel tower(const Config& v) {
  const Classes k{"Lfm3VlVision"};
  const Size hidden = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size heads = v.dim({"num_attention_heads"}), dim = hidden / heads;
  const Size kv = v.dim({"num_key_value_heads"}, 8) * dim, patch = v.dim({"patch_size"}, 16);
  const Size kernel = v.dim({"conv_kernel_size"}, 3);
  const auto types = v.texts({"layer_types"});
  const Part attention =
      in("self_attn", k("Attention"),
         linear("q_proj", hidden, heads * dim) + linear("k_proj", hidden, kv) +
             linear("v_proj", hidden, kv) + linear("out_proj", heads * dim, hidden) +
             head_norms(k("RMSNorm"), dim));
  const Part conv = in("conv", k("ShortConv"),
                       linear("in_proj", hidden, 3 * hidden) +
                           convolution("spatial_conv", "Conv2d", {hidden, 1, kernel, kernel}) +
                           linear("out_proj", hidden, hidden));
  const Part layers = stack("layers", k("Layer"), v.dim({"num_hidden_layers"}), [&](Size i) {
    const bool attends = types.empty() ? i >= 2 && i % 2 == 0 : layer_type(v, types, i) != "conv";
    return (attends ? attention : conv) +
           in("feed_forward", k("MLP"),
              linear("w1", hidden, inner) + linear("w3", hidden, inner) +
                  linear("w2", inner, hidden)) +
           rms_norm("operator_norm", k("RMSNorm"), hidden) +
           rms_norm("ffn_norm", k("RMSNorm"), hidden);
  });
  const Size pixels =
      times({v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2), patch, patch});
  return {k("Model"),
          unsplittable(linear("patch_embed", pixels, hidden) +
                           frequencies("rotary_pos_emb", k("RotaryEmbedding"), dim / 4) +
                           rms_norm("embedding_norm", k("RMSNorm"), hidden) + layers,
                       {k("Layer")}),
          hidden};
}

/// Source: transformers 5.23, models/lfm3_vl/modeling_lfm3_vl.py.
Part lfm3_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "lfm3");
  const Config v = section_of(c, "vision_config", "lfm3_vl_vision");
  const Submodel vision = tower(v), language = text_model(text);
  const Size side = v.dim({"spatial_merge_size"}, 2);
  const Size inner = c.dim({"projector_hidden_size"}, 4096);
  const Bias bias = c.bias({"projector_bias"}, true);
  return with_language_head(
      in("model", "Lfm3VlModel",
         language.as("language_model") + vision.as("vision_tower") +
             in("multi_modal_projector", "Lfm3VlMultiModalProjector",
                layer_norm("layer_norm", vision.width) +
                    linear("linear_1", times({vision.width, side, side}), inner, bias) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", inner, language.width, bias))),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::lfm3_vl
