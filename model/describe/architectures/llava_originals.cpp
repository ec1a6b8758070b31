// LLaVA with the names of its own code (arXiv:2304.08485, arXiv:2310.03744): the tower is named by
// its checkpoint, and the text model's keys stand at the top level.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families::llava_originals {

struct NamedTower {
  std::string_view name;  ///< last part of the tower's name
  Size width, inner, layers, heads, image, patch;
};
/// Source: the config.json of each tower's own repository. LLaVA's code drops the last layer and
/// the pooling of SigLIP (llava/model/multimodal_encoder/siglip_encoder.py of LLaVA-NeXT).
constexpr NamedTower named_towers[] = {
    {"clip-vit-large-patch14-336", 1024, 4096, 24, 16, 336, 14},
    {"clip-vit-large-patch14", 1024, 4096, 24, 16, 224, 14},
    {"siglip-so400m-patch14-384", 1152, 4304, 26, 16, 384, 14},
    {"siglip-so400m-patch14-224", 1152, 4304, 26, 16, 224, 14},
};

/// The tower of `mm_vision_tower`, or of a vision_config where the file has one.
Submodel tower_of(const Config& c) {
  if (c.has("vision_config"))
    return vision_model(section_of(c, "vision_config", "clip_vision_model"));
  const std::string name = c.text({"mm_vision_tower"});
  const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);
  std::string known;
  for (const NamedTower& row : named_towers) {
    known += (known.empty() ? "" : ", ") + std::string(row.name);
    if (row.name != last) continue;
    const bool siglip = last.starts_with("siglip");
    const boost::json::object sizes{
        {"hidden_size", row.width},        {"intermediate_size", row.inner},
        {"num_hidden_layers", row.layers}, {"num_attention_heads", row.heads},
        {"image_size", row.image},         {"patch_size", row.patch},
        {"vision_use_head", false}};
    const Config v = c.section_or_empty("vision_config").with_defaults(sizes);
    return siglip ? siglip_vision(v) : clip_vision(v);
  }
  c.fail("mm_vision_tower",
         fmt::format("found '{}', expected one of {}, or a vision_config", name, known));
}

/// A linear layer, or several with an activation between: "linear", "mlp2x_gelu", and
/// "mlp2x_gelu_Norm" with norms (Yi-VL).
Part projector(const Config& c, Size seen, Size width) {
  const std::string type = c.text({"mm_projector_type"}, "linear");
  if (type == "linear") return linear("mm_projector", seen, width, Bias::yes);
  Size depth = 0;
  if (type.starts_with("mlp") && type.find("x_gelu") == 4) depth = type[3] - '0';
  const std::string_view rest = depth > 0 ? std::string_view(type).substr(10) : "";
  if (depth < 1 || depth > 9 || (!rest.empty() && rest != "_Norm"))
    c.fail("mm_projector_type",
           fmt::format("found '{}', expected linear, mlp2x_gelu or mlp2x_gelu_Norm", type));
  Part layers;
  Size n = 0;
  const auto next = [&] { return std::to_string(n++); };
  for (Size i = 0; i < depth; ++i) {
    if (i > 0) layers = std::move(layers) + module(next(), "GELU");
    layers = std::move(layers) + linear(next(), i == 0 ? seen : width, width, Bias::yes);
    if (!rest.empty()) layers = std::move(layers) + layer_norm(next(), width);
  }
  return in("mm_projector", "Sequential", std::move(layers));
}

Part assembled(const Config& c, std::string_view type, const std::string& name) {
  const Config text = with_optional_class_defaults(c, type);
  const Submodel language = text_model(text, type), vision = tower_of(c);
  Part body = language.part +
              in("vision_tower", "VisionTower",
                 in("vision_tower", vision.class_name, vision.as("vision_model"))) +
              projector(c, c.dim({"mm_hidden_size"}, vision.width), language.width);
  if (c.text({"mm_patch_merge_type"}, "flat").find("unpad") != std::string::npos)
    body = std::move(body) + tensor("image_newline", {language.width}, Role::other);
  return with_language_head(in("model", name, std::move(body)), text,
                            head_is_tied(text, text, false, Inherit::no),
                            "model.embed_tokens.weight");
}

/// Source: SGLang 0.5.23 models/llava.py, yivl.py and llavavid.py.
Part llava_llama(const Config& c) { return assembled(c, "llama", "LlavaLlamaModel"); }
Part llava_mistral(const Config& c) { return assembled(c, "mistral", "LlavaMistralModel"); }
Part llava_qwen(const Config& c) { return assembled(c, "qwen2", "LlavaQwenModel"); }

}  // namespace headroom::model::families::llava_originals
