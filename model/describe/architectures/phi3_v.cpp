// Phi-3-vision and Phi-3.5-vision (arXiv:2404.14219): CLIP's tower inside Phi-3. Four patches make
// one token.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::phi3_v {

/// The config names its tower without sizes: openai/clip-vit-large-patch14-336. Source: vLLM 0.33
/// phi3v.py, CLIP_VIT_LARGE_PATCH14_336_CONFIG.
Config clip_of(const Config& c) {
  return c.section_or_empty("img_processor")
      .with_defaults({{"hidden_size", 1024},
                      {"intermediate_size", 4096},
                      {"num_hidden_layers", 24},
                      {"num_attention_heads", 16},
                      {"image_size", 336},
                      {"patch_size", 14},
                      {"hidden_act", "quick_gelu"}});
}

/// Source: vLLM 0.33 phi3v.py. Checkpoints have all layers of the tower.
Part phi3_v(const Config& c) {
  const Submodel language = text_model(c, "phi3");
  const Config processor = c.section_or_empty("img_processor");
  const Submodel clip = clip_vision(clip_of(c));
  const Size wide = 4 * processor.dim({"image_dim_out"}, clip.width), width = language.width;
  Part images = in("vision_embed_tokens", "Phi3ImageEmbedding",
                   tensor("glb_GN", {1, 1, wide}, Role::other) +
                       tensor("sub_GN", {1, 1, 1, wide}, Role::other) + dropout("drop") +
                       in("img_processor", "CLIPVisionModel", clip.as("vision_model")) +
                       in("img_projection", "Sequential",
                          linear("0", wide, width, Bias::yes) + module("1", "GELU") +
                              linear("2", width, width, Bias::yes)));
  return with_language_head(in("model", "Phi3VModel", language.part + std::move(images)), c,
                            head_is_tied(c, c, false, Inherit::no), "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::phi3_v
