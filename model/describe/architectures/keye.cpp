// Keye-VL (arXiv:2507.01949): SigLIP's tower with rotary positions, a projector over 2 x 2 patches,
// and Qwen3. The keys of the text model stand at the top level.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::keye {

/// Positions of packed images. Source: vLLM 0.33, keye.py, KeyeVisionEmbeddings.
constexpr Size packed_positions = 32768;

/// Source: vLLM 0.33, keye.py. Engines leave out SigLIP's pooling head, files have it unless
/// vision_use_head is false.
Submodel keye_vision(const Config& v) {
  const std::string k = "KeyeSiglip";
  const TowerSizes s = tower_sizes(v, "gelu_pytorch_tanh");
  const Size positions = patches(v);
  Part p = in("embeddings", "KeyeVisionEmbeddings",
              convolution("patch_embedding", "Conv2d", {s.hidden, s.channels, s.patch, s.patch},
                          Bias::yes) +
                  embedding("position_embedding", positions, s.hidden) +
                  embedding("packing_position_embedding", packed_positions, s.hidden) +
                  position_ids(positions)) +
           tower_encoder(k, s, First::norm) + layer_norm("post_layernorm", s.hidden);
  if (v.flag({"vision_use_head"}, true)) p = std::move(p) + pooling_head(k, s);
  p = in("vision_model", k + "VisionTransformer", std::move(p));
  return {k + "VisionModel", unsplittable(std::move(p), {k + "EncoderLayer"}), s.hidden};
}

/// Sources: vLLM 0.33, keye.py and keye_vl1_5.py. Version 1.5 has its norm after the patches are
/// joined.
Part keye(const Config& c) {
  const bool joined = c.class_name().starts_with("KeyeVL1_5");
  const Config text = with_class_defaults(c, "qwen3");
  const Submodel language = text_model(text, "qwen3");
  const Submodel vision = keye_vision(section_of(c, "vision_config", "siglip_vision_model"));
  const Size wide = 4 * vision.width;
  Part body = in("model", language.class_name, language.part) + vision.as("visual") +
              in("mlp_AR", joined ? "KeyeVL1_5Projector" : "Projector",
                 layer_norm("pre_norm", joined ? wide : vision.width) +
                     linear("linear_1", wide, wide, Bias::yes) + module("act", "GELUActivation") +
                     linear("linear_2", wide, language.width, Bias::yes));
  return with_language_head(std::move(body), text, text.flag({"tie_word_embeddings"}, false),
                            "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::keye
