// SAM's vision transformer (arXiv:2304.02643). Attention uses windows with relative positions, and
// the whole image in a few layers. A convolutional neck follows. GOT-OCR 2 reads documents with it.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/got_ocr2/modeling_got_ocr2.py and its copies.
Submodel sam_vision(const Config& v, const SamClasses& names) {
  const std::string& k = names.prefix;
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"mlp_dim"});
  const Size dim = width / v.dim({"num_attention_heads"}), out = v.dim({"output_channels"}, 256);
  const auto [patch, other] = pair_of(v, "patch_size", 16);
  const Size side = pair_of(v, "image_size", 1024).first / patch;
  const auto whole = v.dims({"global_attn_indexes"});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const Part layers = stack("layers", names.layer, v.dim({"num_hidden_layers"}), [&](Size i) {
    const bool global = std::find(whole.begin(), whole.end(), i) != whole.end();
    const Size window = v.count({"window_size"}, 14);
    const Size reach = global || window == 0 ? side : window;
    Part positions;
    if (v.flag({"use_rel_pos"}, true))
      positions = tensor("rel_pos_h", {2 * reach - 1, dim}, Role::other) +
                  tensor("rel_pos_w", {2 * reach - 1, dim}, Role::other);
    return layer_norm("layer_norm1", width) +
           in("attn", names.attention,
              std::move(positions) + linear("qkv", width, 3 * width, v.bias({"qkv_bias"}, true)) +
                  linear("proj", width, width, Bias::yes)) +
           layer_norm("layer_norm2", width) +
           in("mlp", k + "MLPBlock",
              linear("lin1", width, inner, Bias::yes) + linear("lin2", inner, width, Bias::yes) +
                  module("act", act));
  });
  const auto channel_norm = [&](std::string_view name) {
    return in(name, k + "LayerNorm",
              tensor("weight", {out}, Role::norm) + tensor("bias", {out}, Role::norm));
  };
  Part p;
  if (v.flag({"use_abs_pos"}, true))
    p = tensor("pos_embed", {1, side, side, width}, Role::embedding);
  p = std::move(p) +
      in("patch_embed", names.patches,
         convolution("projection", "Conv2d", {width, v.dim({"num_channels"}, 3), patch, other},
                     Bias::yes)) +
      layers +
      in("neck", names.neck,
         convolution("conv1", "Conv2d", {out, width, 1, 1}) + channel_norm("layer_norm1") +
             convolution("conv2", "Conv2d", {out, out, 3, 3}) + channel_norm("layer_norm2"));
  return {names.encoder, std::move(p), out};
}

namespace sam_tower {

/// Source: transformers 5.23, models/got_ocr2/modeling_got_ocr2.py.
Part got_ocr2(const Config& c) {
  const std::string k = "GotOcr2";
  const Config text = section_of(c, "text_config", "qwen2");
  const Submodel language = text_model(text);
  const Submodel vision =
      sam_vision(section_of(c, "vision_config", "got_ocr2_vision"),
                 {k, k + "VisionEncoder", k + "VisionLayer", k + "VisionAttention",
                  k + "PatchEmbeddings", k + "VisionNeck"});
  const Size width = language.width;
  return with_language_head(
      in("model", "GotOcr2Model",
         vision.as("vision_tower") +
             in("multi_modal_projector", "GotOcr2MultiModalProjector",
                convolution("conv_upsampler1", "Conv2d", {2 * vision.width, vision.width, 3, 3}) +
                    convolution("conv_upsampler2", "Conv2d", {width, 2 * vision.width, 3, 3}) +
                    linear("multimodal_projector", width, width, Bias::yes)) +
             language.as("language_model")),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace sam_tower

}  // namespace headroom::model::families
