// Models made of Qwen3-VL's and Qwen3.5's parts under other names: Intern-S1-Pro, Intern-S2, models
// for retrieval with an output vector for each token, and Alpamayo 2.
#include <algorithm>
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

/// `part` with the routed experts of its first `banks` layers as banks that all layers share. The
/// other layers have none.
Part with_shared_banks(Part part, Size banks) {
  const auto bank_of = [](const std::string& name) {
    const auto dot = name.find('.', 7);
    const std::string_view rest = std::string_view(name).substr(std::min(dot, name.size()));
    const bool routed = rest.starts_with(".mlp.gate") || rest.starts_with(".mlp.experts");
    return name.starts_with("layers.") && routed ? std::stoll(name.substr(7, dot - 7)) : -1;
  };
  std::erase_if(part.tensors, [&](const Tensor& t) { return bank_of(t.name) >= banks; });
  std::erase_if(part.modules, [&](const Module& m) { return bank_of(m.path) >= banks; });
  const auto rename = [&](std::string& name) {
    const auto bank = bank_of(name);
    if (bank >= 0) name = "meta_mlp." + std::to_string(bank) + name.substr(name.find(".mlp.") + 4);
  };
  for (Tensor& t : part.tensors) rename(t.name);
  for (Module& m : part.modules) rename(m.path);
  return part;
}

/// Source: vLLM 0.33, interns2_mobius.py. Layer i uses the bank i modulo num_blocks.
Part interns2_mobius(const Config& c) {
  const Config text = c.section("text_config");
  Halves h = halves_of(c, text, base_of(text, true));
  const Size width = h.language.width, layers = text.dim({"num_hidden_layers"});
  Part body = with_shared_banks(std::move(h.language.part), text.dim({"num_blocks"}, 4));
  if (text.flag({"layer_scale"}, false))
    for (Size i = 0; i < layers; ++i)
      body = std::move(body) + at("layers." + std::to_string(i),
                                  tensor("attn_layer_scale", {1, 1, width}, Role::other) +
                                      tensor("ffn_layer_scale", {1, 1, width}, Role::other));
  return with_language_head(
      in("model", "InternS2MobiusModel",
         h.visual.as("visual") + in("language_model", h.language.class_name, std::move(body))),
      text, head_is_tied(c, text, false, Inherit::yes), "model.language_model.embed_tokens.weight");
}

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
