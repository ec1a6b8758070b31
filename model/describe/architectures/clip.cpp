// CLIP and SigLIP as complete models: two towers and the comparison of their outputs.
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::clip {

/// Source: transformers 5.23, models/clip/modeling_clip.py.
Part clip(const Config& c) {
  if (is_for(c, "CLIPVisionModel"))
    return clip_vision(section_or_self(c, "vision_config", "clip_vision_model")).part;
  if (is_for(c, "CLIPTextModel"))
    return clip_text(section_or_self(c, "text_config", "clip_text_model")).part;
  const Submodel text = clip_text(section_of(c, "text_config", "clip_text_model"));
  const Submodel vision = clip_vision(section_of(c, "vision_config", "clip_vision_model"));
  const Size projected = c.dim({"projection_dim"}, 512);
  return tensor("logit_scale", {}, Role::other) + text.as("text_model") +
         vision.as("vision_model") + linear("visual_projection", vision.width, projected) +
         linear("text_projection", text.width, projected);
}

/// Source: transformers 5.23, models/siglip/modeling_siglip.py, models/siglip2.
Part siglip(const Config& c) {
  const bool second = c.class_name().starts_with("Siglip2");
  const std::string type = second ? "siglip2" : "siglip";
  const auto seen = [&](const Config& section) {
    return second ? siglip2_vision(section) : siglip_vision(section);
  };
  if (is_for(c, "VisionModel"))
    return seen(section_or_self(c, "vision_config", type + "_vision_model")).part;
  const Submodel text = siglip_text(section_of(c, "text_config", type + "_text_model"),
                                    second ? "Siglip2" : "Siglip");
  return tensor("logit_scale", {1}, Role::other) + tensor("logit_bias", {1}, Role::other) +
         text.as("text_model") +
         seen(section_of(c, "vision_config", type + "_vision_model")).as("vision_model");
}

}  // namespace headroom::model::families::clip
