// InternVL and Qianfan-OCR: a vision transformer with scaled residuals, and any text model. Blocks
// of 2 x 2 pixels are shuffled into channels.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families {

namespace {

/// The part that the towers of InternVL and Qianfan-OCR share, with class names of `k`.
Part internvl_embeddings(const Config& v, const std::string& k) {
  const Size width = v.dim({"hidden_size"});
  const auto [height_patch, width_patch] = pair_of(v, "patch_size", 14);
  const auto [image_height, image_width] = pair_of(v, "image_size", 448);
  const Size positions = (image_height / height_patch) * (image_width / width_patch) + 1;
  Part tokens = tensor("cls_token", {1, 1, width}, Role::other);
  if (v.flag({"use_mask_token"}, false))
    tokens = std::move(tokens) + tensor("mask_token", {1, 1, width}, Role::other);
  if (v.flag({"use_absolute_position_embeddings"}, true))
    tokens =
        std::move(tokens) + tensor("position_embeddings", {1, positions, width}, Role::embedding);
  return in("embeddings", k + "Embeddings",
            std::move(tokens) +
                in("patch_embeddings", k + "PatchEmbeddings",
                   convolution("projection", "Conv2d",
                               {width, v.dim({"num_channels"}, 3), height_patch, width_patch},
                               Bias::yes)) +
                dropout());
}

Part internvl_layer(const Config& v, const std::string& k) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Bias bias = v.bias({"attention_bias"}, false);
  const bool rms =
      word_of(v, {"norm_type"}, "layer_norm", {"layer_norm", "rms_norm"}) == "rms_norm";
  const auto norm = [&](std::string_view name) {
    return rms ? rms_norm(name, k + "RMSNorm", width) : layer_norm(name, width);
  };
  const auto head_norm = [&](std::string_view name) {
    return v.flag({"use_qk_norm"}, false) ? rms_norm(name, k + "RMSNorm", width)
                                          : module(name, "Identity");
  };
  return tensor("lambda_1", {width}, Role::other) + tensor("lambda_2", {width}, Role::other) +
         in("attention", k + "Attention",
            linear("q_proj", width, width, bias) + linear("k_proj", width, width, bias) +
                linear("v_proj", width, width, bias) +
                linear("projection_layer", width, width, Bias::yes) +
                module("projection_dropout",
                       v.number({"projection_dropout"}, 0.0) > 0.0 ? "Dropout" : "Identity") +
                head_norm("q_norm") + head_norm("k_norm")) +
         in("mlp", k + "MLP",
            module("activation_fn", activation_class(v, {"hidden_act"}, "gelu")) +
                linear("fc1", width, inner, Bias::yes) + linear("fc2", inner, width, Bias::yes)) +
         norm("layernorm_before") + norm("layernorm_after") + dropout();
}

Part pooled_norm(const Config& v) {
  return v.flag({"use_mean_pooling"}, true) ? module("layernorm", "Identity")
                                            : layer_norm("layernorm", v.dim({"hidden_size"}));
}

/// Tower, projector over shuffled pixels, text model and head.
Part assembled(const Config& c, const std::string& k, const Config& text, const Submodel& vision,
               bool is_tied) {
  const Submodel language = text_model(text);
  const double ratio = c.number({"downsample_ratio"}, 0.5);
  if (!(ratio > 0.0 && ratio <= 1.0)) c.fail("downsample_ratio", "expected a number in (0, 1]");
  const Size side = static_cast<Size>(1.0 / ratio), wide = times({vision.width, side, side});
  return with_language_head(
      in("model", k + "Model",
         vision.as("vision_tower") +
             in("multi_modal_projector", k + "MultiModalProjector",
                layer_norm("layer_norm", wide) +
                    linear("linear_1", wide, language.width, Bias::yes) +
                    module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                    linear("linear_2", language.width, language.width, Bias::yes)) +
             language.as("language_model")),
      text, is_tied, "model.language_model.embed_tokens.weight");
}

}  // namespace

/// Source: transformers 5.23, models/internvl/modeling_internvl.py.
Submodel internvl_vision(const Config& v) {
  const std::string k = "InternVLVision";
  Part p = internvl_embeddings(v, k) +
           in("encoder", k + "Encoder",
              stack("layer", k + "Layer", v.dim({"num_hidden_layers"}),
                    [layer = internvl_layer(v, k)] { return layer; })) +
           pooled_norm(v);
  return {k + "Model", unsplittable(std::move(p), {k + "Layer"}), v.dim({"hidden_size"})};
}

namespace internvl {

Part internvl(const Config& c) {
  return assembled(c, "InternVL", section_of(c, "text_config", "qwen2"),
                   vision_model(section_of(c, "vision_config", "internvl_vision")),
                   head_is_tied(c, c, true, Inherit::no));
}

/// Source: vLLM 0.33, interns1.py and interns1_vit.py.
Part interns1(const Config& c) {
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "internvl_vision");
  return assembled(c, "InternS1", section_of(c, "text_config", "qwen3"), internvl_vision(v),
                   head_is_tied(c, c, false, Inherit::no));
}

}  // namespace internvl

namespace internvl {

/// Qianfan-OCR is like InternVL without a module between the tower and its layers. All layers but
/// the first have stochastic depth (drop path). Source: transformers 5.23, models/qianfan_ocr.
Part qianfan_ocr(const Config& c) {
  const std::string k = "QianfanOCRVision";
  const Config v = section_of(c, "vision_config", "qianfan_ocr_vision");
  const bool drops = v.number({"drop_path_rate"}, 0.1) > 0;
  const Part layer = internvl_layer(v, k);
  Part p = internvl_embeddings(v, k) + pooled_norm(v) +
           stack("layers", k + "Layer", v.dim({"num_hidden_layers"}), [&](Size i) {
             const std::string_view drop = drops && i > 0 ? "QianfanOCRDropPath" : "Identity";
             return layer + module("drop_path1", drop) + module("drop_path2", drop);
           });
  return assembled(c, "QianfanOCR", section_of(c, "text_config", "qwen3"),
                   {k + "Model", unsplittable(std::move(p), {k + "Layer"}), v.dim({"hidden_size"})},
                   head_is_tied(c, c, false, Inherit::no));
}

}  // namespace internvl

}  // namespace headroom::model::families
