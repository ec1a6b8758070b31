// Phi-4 with a SigLIP 2 tower: the tower takes patches of images of any shape, and two linear
// layers lead to Phi-3's decoder.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::phi4_siglip {

/// Source: vLLM 0.33 phi4siglip.py, with the names of its checkpoints.
Part phi4_siglip(const Config& c) {
  const Submodel language = text_model(c, "phi3");
  const Submodel vision = siglip2_vision(
      with_class_defaults(c.section_or_empty("vision_config"), "siglip2_vision_model"));
  const Size seen = c.dim({"mm_hidden_size"}, vision.width), width = language.width;
  Part body = language.part +
              in("vision_tower", "SigLip2VisionTower",
                 in("vision_tower", "Siglip2VisionModel", vision.as("vision_model"))) +
              in("mm_projector", "Sequential",
                 linear("0", seen, width, Bias::yes) + module("1", "GELU") +
                     linear("2", width, width, Bias::yes));
  return with_language_head(in("model", "Phi4VModel", std::move(body)), c,
                            head_is_tied(c, c, false, Inherit::no), "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::phi4_siglip
