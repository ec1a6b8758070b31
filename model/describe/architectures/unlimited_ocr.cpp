// Unlimited-OCR, after DeepSeek-OCR (arXiv:2510.18234): SAM's tower, CLIP's tower over its output,
// and a small mixture of experts.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/deepseek_ocr.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::unlimited_ocr {

const std::string k = "UnlimitedOcr";

Part language(const Config& c) {
  const Classes t{"UnlimitedOcrText"};
  Common s = common_of(c, {.kv_heads = 10});
  s.heads.dim = s.hidden / s.heads.query;  // the config's value is ignored
  const Bias bias = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Size window = c.dim({"sliding_window"}, 128);
  const auto types = c.texts({"layer_types"});
  const Part mixture = ocr_mixture(c, t, s, mlp);
  return trunk(c, t, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    const bool slides = types.empty() || layer_type(c, types, i) != "full_attention";
    return decoder_layer(t, s.hidden, attention(s.hidden, s.heads, bias, bias, slides ? window : 0),
                         is_sparse(c, i, 1) ? mixture : dense_mlp(c, t, mlp));
  });
}

/// Source: transformers 5.23, models/unlimited_ocr/modeling_unlimited_ocr.py. The window does not
/// cover the prompt. Attention reads the whole prompt and the last generated tokens.
Part unlimited_ocr(const Config& c) {
  Config text =
      section_of(c, c.has("text_config") ? "text_config" : "language_config", "unlimited_ocr_text");
  const Config v = section_of(c, "vision_config", "unlimited_ocr_vision");
  const Config eyes = section_of(v, "sam_config", "unlimited_ocr_sam_vision_model");
  const Config reader = section_of(v, "encoder_config", "unlimited_ocr_vision_encoder");
  const Submodel sam =
      sam_vision(eyes, {k + "Sam", k + "SamVisionEncoder", k + "SamVisionLayer",
                        k + "SamVisionAttention", k + "SamPatchEmbeddings", k + "SamVisionNeck"});
  auto channels = eyes.dims({"downsample_channels"});
  if (channels.empty()) channels = {512, 1024};
  if (channels.size() != 2) eyes.fail("downsample_channels", "expected two numbers");
  const TowerSizes s = tower_sizes(reader, "quick_gelu");
  const Size positions = patches(reader) + 1, width = text.dim({"hidden_size"});
  const Part tower =
      in("sam_encoder", sam.class_name,
         sam.part + in("proj", k + "SamVisionProj",
                       convolution("conv1", "Conv2d", {channels[0], sam.width, 3, 3}) +
                           convolution("conv2", "Conv2d", {channels[1], channels[0], 3, 3}))) +
      in("vision_encoder", k + "VisionEncoder",
         in("embeddings", k + "VisionEmbeddings",
            tensor("class_embedding", {s.hidden}, Role::other) +
                embedding("position_embedding", positions, s.hidden) + position_ids(positions)) +
             layer_norm("pre_layrnorm", s.hidden) + tower_encoder(k, s, First::attention));
  Part body = in("model", k + "Model",
                 tensor("view_separator", {width}, Role::other) +
                     tensor("image_newline", {width}, Role::other) +
                     in("vision_tower", k + "VisionModel", tower) +
                     linear("multi_modal_projector", channels[1] + s.hidden, width, Bias::yes) +
                     in("language_model", k + "TextModel", language(text)));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "EncoderLayer", k + "SamVisionLayer"}), text,
      head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::unlimited_ocr
