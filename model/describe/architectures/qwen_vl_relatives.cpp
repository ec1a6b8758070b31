// Models made of Qwen3-VL's and Qwen3.5's parts under other names: Intern-S1-Pro, Intern-S2, models
// for retrieval with an output vector for each token, and Alpamayo 2.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::qwen_vl_relatives {

/// The tower and text model of one generation, dense or a mixture.
struct Base {
  std::string name;  ///< prefix of the tower's classes
  std::string type;  ///< model_type of the whole model
};

Base base_of(const Config& text, bool newer) {
  const bool mixture = text.has("num_experts");
  const std::string name = newer ? "Qwen3_5" : "Qwen3VL", type = newer ? "qwen3_5" : "qwen3_vl";
  return {name + (mixture ? "Moe" : ""), type + (mixture ? "_moe" : "")};
}

struct Halves {
  Submodel visual, language;
};

/// The config's sections may name types of the model's own. Their classes are those of `b`.
Halves halves_of(const Config& c, const Config& given, const Base& b) {
  const std::string type = b.type + "_text";
  const Config text = with_class_defaults(given, type);
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), b.type + "_vision");
  const bool deep = b.type.starts_with("qwen3_vl");
  return {qwen3_vision(v, b.name, deep ? EarlierOutputs::merged : EarlierOutputs::unused),
          qwen_vl::qwen3_vl_text(text, type)};
}

/// A whole model with its head, with the names of Qwen's own class.
Part generative(const Config& c, bool newer) {
  const Config text = c.section("text_config");
  const Halves h = halves_of(c, text, base_of(text, newer));
  return with_language_head(
      in("model", c.class_name().substr(0, c.class_name().find("For")) + "Model",
         h.visual.as("visual") + h.language.as("language_model")),
      text, head_is_tied(c, text, false, Inherit::yes), "model.language_model.embed_tokens.weight");
}

/// Source: vLLM 0.33, interns1_pro.py. The encoder of time series is left out: vLLM does not load
/// it.
Part interns1_pro(const Config& c) { return generative(c, false); }

/// Source: vLLM 0.33, interns2_preview.py. The encoder of time series is left out, as in vLLM.
Part interns2_preview(const Config& c) { return generative(c, true); }

/// Width of the output vectors. Source: vLLM 0.33, colqwen3.py.
Size output_width(const Config& c, Size fallback) {
  return c.dim({"embed_dim", "dims", "dim", "projection_dim", "colbert_dim"}, fallback);
}

/// Source: vLLM 0.33, colqwen3.py and transformers_utils/configs/colqwen3.py.
Part colqwen3(const Config& c) {
  const Config whole = c.has("vlm_config") ? c.section("vlm_config") : c;
  const Config text = whole.section("text_config");
  const Halves h = halves_of(whole, text, base_of(text, false));
  const Size width = output_width(c, 0);
  Part p = in("model", "Qwen3VLModel", h.visual.as("visual") + h.language.as("language_model"));
  const bool projects = !c.class_name().starts_with("Qwen3VLNemotron");
  if (projects && width == 0) c.fail("embed_dim", "is missing: the width of the output vectors");
  return width == 0 ? p : std::move(p) + linear("custom_text_proj", h.language.width, width);
}

/// Source: vLLM 0.33, colqwen3_5.py.
Part colqwen3_5(const Config& c) {
  const Config text = c.section("text_config");
  const Halves h = halves_of(c, text, base_of(text, true));
  return h.visual.as("visual") + h.language.as("language_model") +
         linear("custom_text_proj", h.language.width, output_width(c, 128), Bias::yes);
}

/// Source: vLLM 0.33, alpamayo2_super.py. The expert that plans trajectories is left out: vLLM does
/// not load it.
Part alpamayo2(const Config& c) {
  const Config whole = c.has("vlm_config") ? c.section("vlm_config") : c;
  return in("vlm", "Qwen3VLForConditionalGeneration",
            generative(whole.as_class(c.class_name()), false));
}

}  // namespace headroom::model::families::qwen_vl_relatives
