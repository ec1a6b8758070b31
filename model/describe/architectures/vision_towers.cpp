// CLIP, SigLIP and Pixtral, the base of most vision-language models' towers.
#include "model/describe/architectures/vision_towers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families {

namespace {

Part text_embeddings(const Config& c, std::string_view prefix, Size hidden) {
  const Size positions = c.dim({"max_position_embeddings"});
  return in("embeddings", join(prefix, "TextEmbeddings"),
            embedding("token_embedding", c.dim({"vocab_size"}), hidden) +
                embedding("position_embedding", positions, hidden) + position_ids(positions));
}

Part siglip_body(const Config& c, std::string_view prefix, const TowerSizes& s, Part embeddings) {
  Part p = in("embeddings", join(prefix, "VisionEmbeddings"), std::move(embeddings)) +
           tower_encoder(prefix, s, First::norm) + layer_norm("post_layernorm", s.hidden);
  if (c.flag({"vision_use_head"}, true)) p = std::move(p) + pooling_head(prefix, s);
  return unsplittable(
      std::move(p), {join(prefix, "TextEmbeddings"), join(prefix, "VisionEmbeddings"),
                     join(prefix, "EncoderLayer"), join(prefix, "MultiheadAttentionPoolingHead")});
}

const std::vector<std::string> clip_blocks{"CLIPTextEmbeddings", "CLIPEncoderLayer",
                                           "CLIPVisionEmbeddings"};

}  // namespace

std::pair<Size, Size> pair_of(const Config& c, std::string_view key, Size fallback) {
  const auto* value = c.object().if_contains({key.data(), key.size()});
  if (!value || !value->is_array()) {
    const Size one = c.dim({key}, fallback);
    return {one, one};
  }
  const auto both = c.dims({key});
  if (both.size() != 2 || both[0] < 1 || both[1] < 1)
    c.fail(key, "expected a number or a list of two");
  return {both[0], both[1]};
}

Size feature_layers(const Config& c, std::string_view key, Size fallback) {
  const auto* value = c.object().if_contains({key.data(), key.size()});
  if (!value || value->is_null()) return fallback;
  return value->is_array() ? static_cast<Size>(value->get_array().size()) : 1;
}

Size patches(const Config& c) {
  const auto [height, width] = pair_of(c, "image_size", 224);
  const auto [patch_height, patch_width] = pair_of(c, "patch_size", 16);
  if (height < patch_height || width < patch_width)
    c.fail("image_size", "is smaller than patch_size");
  return (height / patch_height) * (width / patch_width);
}

/// Source: transformers 5.23, models/clip/modeling_clip.py.
Submodel clip_vision(const Config& c) {
  Part p = clip_vision_body(c, "CLIPVisionEmbeddings", "CLIP");
  return {"CLIPVisionModel", unsplittable(std::move(p), clip_blocks), c.dim({"hidden_size"})};
}

Submodel clip_text(const Config& c) {
  const TowerSizes s = tower_sizes(c, "quick_gelu");
  Part p = text_embeddings(c, "CLIP", s.hidden) + tower_encoder("CLIP", s, First::attention) +
           layer_norm("final_layer_norm", s.hidden);
  return {"CLIPTextModel", unsplittable(std::move(p), clip_blocks), s.hidden};
}

/// Source: transformers 5.23, models/siglip/modeling_siglip.py.
Submodel siglip_vision(const Config& c) {
  const TowerSizes s = tower_sizes(c, "gelu_pytorch_tanh");
  const Size positions = patches(c);
  return {"SiglipVisionModel",
          siglip_body(c, "Siglip", s,
                      convolution("patch_embedding", "Conv2d",
                                  {s.hidden, s.channels, s.patch, s.patch}, Bias::yes) +
                          embedding("position_embedding", positions, s.hidden) +
                          position_ids(positions)),
          s.hidden};
}

/// SigLIP 2 accepts patches of any shape. Source: transformers 5.23,
/// models/siglip2/modeling_siglip2.py.
Submodel siglip2_vision(const Config& c) {
  const TowerSizes s = tower_sizes(c, "gelu_pytorch_tanh");
  return {"Siglip2VisionModel",
          siglip_body(c, "Siglip2", s,
                      linear("patch_embedding", times({s.channels, s.patch, s.patch}), s.hidden,
                             Bias::yes) +
                          embedding("position_embedding", c.dim({"num_patches"}), s.hidden)),
          s.hidden};
}

Submodel siglip_text(const Config& c, std::string_view prefix) {
  const TowerSizes s = tower_sizes(c, "gelu_pytorch_tanh");
  const Size projected = c.dim({"projection_size"}, s.hidden);
  Part p = text_embeddings(c, prefix, s.hidden) + tower_encoder(prefix, s, First::norm) +
           layer_norm("final_layer_norm", s.hidden) +
           linear("head", s.hidden, projected, Bias::yes);
  return {join(prefix, "TextModel"), std::move(p), projected};
}

/// Source: transformers 5.23, models/pixtral/modeling_pixtral.py.
Submodel pixtral_vision(const Config& c) {
  const TowerSizes s = tower_sizes(c, "gelu");
  const Size dim = c.dim({"head_dim"}, s.hidden / s.heads);
  const Part layers = stack("layers", "PixtralAttentionLayer", s.layers, [&] {
    return rms_norm("attention_norm", "PixtralRMSNorm", s.hidden) +
           in("feed_forward", "PixtralMLP", gated_mlp(s.hidden, s.inner, s.act)) +
           in("attention", "PixtralAttention",
              linear("k_proj", s.hidden, s.hidden) + linear("v_proj", s.hidden, s.hidden) +
                  linear("q_proj", s.hidden, s.hidden) + linear("o_proj", s.hidden, s.hidden)) +
           rms_norm("ffn_norm", "PixtralRMSNorm", s.hidden);
  });
  Part p = convolution("patch_conv", "Conv2d", {s.hidden, s.channels, s.patch, s.patch}) +
           rms_norm("ln_pre", "PixtralRMSNorm", s.hidden) +
           in("transformer", "PixtralTransformer", layers) +
           in("patch_positional_embedding", "PixtralVisionRotaryEmbedding",
              buffer("inv_freq", {dim / 2}) + buffer("original_inv_freq", {dim / 2}));
  return {"PixtralVisionModel", unsplittable(std::move(p), {"PixtralAttentionLayer"}), s.hidden};
}

Submodel vision_model(const Config& c) {
  struct Row {
    std::string_view model_type;
    Submodel (*describe)(const Config&);
  };
  static constexpr Row rows[] = {
      {"clip_vision_model", clip_vision},
      {"siglip_vision_model", siglip_vision},
      {"siglip2_vision_model", siglip2_vision},
      {"pixtral", pixtral_vision},
      {"internvl_vision", internvl_vision},
      {"idefics3_vision", [](const Config& v) { return idefics_vision(v, "Idefics3"); }},
      {"qwen2_5_vl_vision", qwen2_5_vision},
      {"qwen3_vl_vision",
       [](const Config& v) { return qwen3_vision(v, "Qwen3VL", EarlierOutputs::merged); }},
  };
  const std::string type = c.text({"model_type"});
  std::vector<std::string_view> known;
  for (const auto& row : rows) {
    if (row.model_type == type) return row.describe(c);
    known.push_back(row.model_type);
  }
  c.fail("model_type", fmt::format("vision model '{}' is not described; known: {}", type,
                                   fmt::join(known, ", ")));
}

}  // namespace headroom::model::families
