// Bee and R-4B: LLaVA-OneVision with a norm before the projector.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::bee {

/// Sources: vLLM 0.33, bee.py and rvl.py. Bee's projector is four times as wide inside.
Part bee(const Config& c) {
  const bool wide = c.class_name().starts_with("Bee");
  const Config text = section_of(c, "text_config", "qwen3");
  const Submodel vision = vision_model(section_of(c, "vision_config", "siglip_vision_model"));
  const Submodel language = text_model(text);
  const Size inner = wide ? 4 * language.width : language.width;
  const std::string name = wide ? "Bee" : "R";
  return with_language_head(
      in("model", name + "Model",
         tensor("image_newline", {language.width}, Role::other) + vision.as("vision_tower") +
             in("multi_modal_projector", name + "MultiModalProjector",
                layer_norm("pre_norm", vision.width) +
                    linear("linear_1", vision.width, inner, Bias::yes) +
                    module("act", "GELUActivation") +
                    linear("linear_2", inner, language.width, Bias::yes)) +
             language.as("language_model")),
      text, head_is_tied(c, text, false, Inherit::yes), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::bee
