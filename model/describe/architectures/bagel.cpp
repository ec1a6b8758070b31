// BAGEL (arXiv:2505.14683) as engines serve it: SigLIP's tower, a connector, and Qwen2 with norms
// on heads. Weights that generate images are left out.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::bagel {

/// Norms on queries and keys of all layers of `language`, if the config asks for them.
Part with_head_norms(Part language, const Config& text) {
  if (!text.flag({"qk_norm"}, false)) return language;
  const Size dim = heads_of(text, Defaults{}).dim;
  for (Size i = 0; i < text.dim({"num_hidden_layers"}); ++i)
    language = std::move(language) +
               at("layers." + std::to_string(i) + ".self_attn", head_norms("Qwen2RMSNorm", dim));
  return language;
}

/// Source: vLLM 0.33, bagel.py. Its config says 27 layers of the tower, and its files have 26.
Part bagel(const Config& c) {
  const Config text = section_of(c, "llm_config", "qwen2");
  const Config given = c.section_or_empty("vit_config");
  const Size layers = given.dim({"num_hidden_layers"}, 12);
  const Config v = section_of(c, "vit_config", "siglip_vision_model");
  Submodel language = text_model(text, "qwen2");
  Part head = with_language_head(
      in("model", language.class_name, with_head_norms(std::move(language.part), text)), text,
      head_is_tied(c, text, false, Inherit::yes), "model.embed_tokens.weight");
  Part p = in("language_model", "Qwen2ForCausalLM", owners_at(std::move(head), "language_model"));
  if (!c.flag({"visual_und"}, true)) return p;
  Config counted = v.with_defaults({{"vision_use_head", false}});
  if (layers == 27) {
    boost::json::object sizes = counted.object();
    sizes["num_hidden_layers"] = 26;
    counted = Config(std::move(sizes), c.origin());
  }
  const Submodel tower = siglip_vision(counted);
  const std::string act = activation_class(c, {"connector_act"}, "gelu_pytorch_tanh");
  return std::move(p) +
         in("vit_model", tower.class_name,
            in("vision_model", "SiglipVisionTransformer", tower.part)) +
         in("connector", "MLPconnector",
            linear("fc1", tower.width, language.width, Bias::yes) + module("activation_fn", act) +
                linear("fc2", language.width, language.width, Bias::yes));
}

}  // namespace headroom::model::families::bagel
