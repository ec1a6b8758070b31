// NVILA (arXiv:2412.04468) and models built like it: SigLIP's tower, a projector over blocks of
// patches, and a text model.
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::nvila {

Part nvila_layers(const Config& c, Size seen, Size width) {
  // The downsampling before them has no tensors.
  if (c.class_name() != "NVILALiteForConditionalGeneration")
    return layer_norm("1", 4 * seen) + linear("2", 4 * seen, width, Bias::yes) +
           module("3", "GELU") + linear("4", width, width, Bias::yes);
  return layer_norm("1", 9 * seen) + linear("2", 9 * seen, 3 * seen, Bias::yes) +
         module("3", "GELU") + layer_norm("4", 3 * seen) + linear("5", 3 * seen, width, Bias::yes) +
         module("6", "GELU") + linear("7", width, width, Bias::yes);
}

/// Source: SGLang 0.5.23 models/nvila.py, nvila_lite.py and jet_vlm.py.
Part nvila(const Config& c) {
  const std::string_view type = c.class_name().starts_with("NVILA") ? "qwen2" : "jet_nemotron";
  const Config text = section_of(c, "text_config", type);
  const Submodel vision = siglip_vision(
      with_class_defaults(c.section_or_empty("vision_config"), "siglip_vision_model"));
  return in("vision_tower", vision.class_name, vision.as("vision_model")) +
         in("mm_projector", "MultiModalProjector",
            in("layers", "Sequential", nvila_layers(c, vision.width, width_of(text)))) +
         whole_model(text, "llm");
}

}  // namespace headroom::model::families::nvila
