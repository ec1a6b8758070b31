// InternVL: its own vision transformer with scaled residuals, pixels shuffled 2 x 2 into channels,
// and any text model.
#include "model/architectures/composition.hpp"
#include "model/architectures/vision_language_families.hpp"
#include "model/architectures/vision_towers.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/internvl/modeling_internvl.py.
Submodel internvl_vision(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const auto [height_patch, width_patch] = pair_of(v, "patch_size", 14);
  const auto [image_height, image_width] = pair_of(v, "image_size", 448);
  const Size positions = (image_height / height_patch) * (image_width / width_patch) + 1;
  const Bias bias = v.bias({"attention_bias"}, false);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const bool rms = v.text({"norm_type"}, "layer_norm") == "rms_norm";
  const auto norm = [&](std::string_view name) {
    return rms ? rms_norm(name, "InternVLVisionRMSNorm", width) : layer_norm(name, width);
  };
  const auto head_norm = [&](std::string_view name) {
    return v.flag({"use_qk_norm"}, false) ? rms_norm(name, "InternVLVisionRMSNorm", width)
                                          : module(name, "Identity");
  };
  Part tokens = tensor("cls_token", {1, 1, width}, Role::other);
  if (v.flag({"use_mask_token"}, false))
    tokens = std::move(tokens) + tensor("mask_token", {1, 1, width}, Role::other);
  if (v.flag({"use_absolute_position_embeddings"}, true))
    tokens =
        std::move(tokens) + tensor("position_embeddings", {1, positions, width}, Role::embedding);
  const Part layers =
      stack("layer", "InternVLVisionLayer", v.dim({"num_hidden_layers"}), [&](Size) {
        return tensor("lambda_1", {width}, Role::other) + tensor("lambda_2", {width}, Role::other) +
               in("attention", "InternVLVisionAttention",
                  linear("q_proj", width, width, bias) + linear("k_proj", width, width, bias) +
                      linear("v_proj", width, width, bias) +
                      linear("projection_layer", width, width, Bias::yes) +
                      module("projection_dropout",
                             v.number({"projection_dropout"}, 0.0) > 0.0 ? "Dropout" : "Identity") +
                      head_norm("q_norm") + head_norm("k_norm")) +
               in("mlp", "InternVLVisionMLP",
                  module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                      linear("fc2", inner, width, Bias::yes)) +
               norm("layernorm_before") + norm("layernorm_after") + dropout();
      });
  Part p = in("embeddings", "InternVLVisionEmbeddings",
              std::move(tokens) +
                  in("patch_embeddings", "InternVLVisionPatchEmbeddings",
                     convolution("projection", "Conv2d",
                                 {width, v.dim({"num_channels"}, 3), height_patch, width_patch},
                                 Bias::yes)) +
                  dropout()) +
           in("encoder", "InternVLVisionEncoder", layers) +
           (v.flag({"use_mean_pooling"}, true) ? module("layernorm", "Identity")
                                               : layer_norm("layernorm", width));
  return {"InternVLVisionModel", unsplittable(std::move(p), {"InternVLVisionLayer"}), width};
}

Part internvl(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Submodel vision = vision_model(section_of(c, "vision_config", "internvl_vision"));
  const Submodel language = text_model(text);
  const double ratio = c.number({"downsample_ratio"}, 0.5);
  if (!(ratio > 0.0 && ratio <= 1.0)) c.fail("downsample_ratio", "expected a number in (0, 1]");
  const Size side = static_cast<Size>(1.0 / ratio), wide = vision.width * side * side;
  return with_language_head(
      in("model", "InternVLModel",
         vision.as("vision_tower") +
             in("multi_modal_projector", "InternVLMultiModalProjector",
                layer_norm("layer_norm", wide) +
                    linear("linear_1", wide, language.width, Bias::yes) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", language.width, language.width, Bias::yes)) +
             language.as("language_model")),
      text, head_is_tied(c, text, true, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families
