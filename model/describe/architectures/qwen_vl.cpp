// Qwen's vision-language models and models built from their parts: a Qwen vision transformer
// (qwen_vision.cpp) and a text model.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::qwen_vl {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

/// The text model of the second generation is Qwen2 with other class names.
Part generation2(const Config& c, const std::string& name, const Submodel& visual) {
  const std::string type = name == "Qwen2VL" ? "qwen2_vl_text" : "qwen2_5_vl_text";
  const Config text = section_or_self(c, "text_config", type);
  Submodel language = text_model(text, "qwen2");
  language.part =
      with_quirks(renamed(std::move(language.part), "Qwen2", name, {"Qwen2MLP"}),
                  {.attention = {.rotation = Rotation::added, .tables_by_token = true}});
  language.class_name = name + "TextModel";
  return with_language_head(
      in("model", name + "Model", visual.as("visual") + language.as("language_model")), text,
      head_is_tied(c, text, false, Inherit::yes), embedding_weight);
}

/// Source: transformers 5.23, models/qwen2_vl/modeling_qwen2_vl.py.
Part qwen2_vl(const Config& c) {
  return generation2(c, "Qwen2VL", qwen2_vision(section_of(c, "vision_config", "qwen2_vl_vision")));
}

/// Source: transformers 5.23, models/qwen2_5_vl/modeling_qwen2_5_vl.py.
Part qwen2_5_vl(const Config& c) {
  return generation2(c, "Qwen2_5_VL",
                     qwen2_5_vision(section_of(c, "vision_config", "qwen2_5_vl_vision")));
}

/// The text model of Qwen3-VL or Qwen3.5. `type` selects it.
Submodel qwen3_vl_text(const Config& text, std::string_view type) {
  if (type != "qwen3_vl_text" && type != "qwen3_vl_moe_text") return text_model(text, type);
  const bool mixture = type == "qwen3_vl_moe_text";
  const std::string name = mixture ? "Qwen3VLMoeText" : "Qwen3VLText";
  Submodel language = text_model(text, mixture ? "qwen3_moe" : "qwen3");
  language.part =
      with_quirks(renamed(std::move(language.part), mixture ? "Qwen3Moe" : "Qwen3", name),
                  {.attention = {.rotation = Rotation::added, .tables_by_token = true}});
  language.class_name = name + "Model";
  return language;
}

/// Qwen3-VL and Qwen3.5, dense and mixtures. Source: transformers 5.23, models/qwen3_vl,
/// models/qwen3_vl_moe, models/qwen3_5 and models/qwen3_5_moe.
Part qwen3_vl(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const std::string type = std::string(name.starts_with("Qwen3VL") ? "qwen3_vl" : "qwen3_5") +
                           (name.ends_with("Moe") ? "_moe" : "");
  const Config text = section_of(c, "text_config", type + "_text");
  const Submodel visual =
      qwen3_vision(section_of(c, "vision_config", type + "_vision"), name,
                   name.starts_with("Qwen3VL") ? EarlierOutputs::merged : EarlierOutputs::unused);
  return with_language_head(
      in("model", name + "Model",
         visual.as("visual") + qwen3_vl_text(text, type + "_text").as("language_model")),
      text, head_is_tied(c, text, false, Inherit::no), embedding_weight);
}

/// Qwen3-VL under another name. Source: transformers 5.23, models/cosmos3_omni.
Part cosmos3_omni(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen3_vl_text");
  const Submodel visual =
      qwen3_vision(with_class_defaults(c.section_or_empty("vision_config"), "qwen3_vl_vision"),
                   "Qwen3VL", EarlierOutputs::merged);
  return with_language_head(
      in("model", "Cosmos3OmniModel",
         visual.as("visual") + qwen3_vl_text(text, "qwen3_vl_text").as("language_model")),
      text, head_is_tied(c, text, false, Inherit::no), embedding_weight);
}

/// Source: transformers 5.23, models/exaone4_5/modeling_exaone4_5.py. Older files call the text
/// model exaone4_5_text.
Part exaone4_5(const Config& c) {
  const Config text = section_of(c, "text_config", "exaone4");
  const bool old = text.model_type() == "exaone4_5_text";
  const Config known = old ? with_class_defaults(text, "exaone4") : text;
  const Submodel visual = qwen2_5_vision(section_of(c, "vision_config", "exaone4_5_vision"));
  Part body = in("model", "Exaone4_5_Model",
                 visual.as("visual") + text_model(known, "exaone4").as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {"Exaone4_5_DecoderLayer"}), known,
                            head_is_tied(c, known, false, Inherit::no), embedding_weight);
}

/// Source: transformers 5.23, models/hyperclovax_vision_v2. The tower may be called qwen2_5_vl.
Part hyperclovax_vision(const Config& c) {
  const Config text = section_of(c, "text_config", "hyperclovax");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "qwen2_5_vl_vision")
                       .with_defaults({{"model_type", "qwen2_5_vl_vision"}});
  const Submodel visual = qwen2_5_vision(v), language = text_model(text);
  return with_language_head(
      in("model", "HyperCLOVAXVisionV2Model",
         visual.as("vision_model") + linear("projector", visual.width, language.width, Bias::yes) +
             language.as("language_model")),
      text, head_is_tied(c, text, true, Inherit::no), embedding_weight);
}

}  // namespace headroom::model::families::qwen_vl
