// Ling and Ming with images (Bailing V3 VL): Qwen3-VL's tower without the matrices of its merger, a
// projector, and Bailing's hybrid text model.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::bailing_vl {

/// `part` without the merger's matrices. Its norm stays.
Part without_matrices(Part part) {
  const auto gone = [](std::string_view name) {
    return name.starts_with("merger.linear_") || name.starts_with("merger.act_fn");
  };
  std::erase_if(part.tensors, [&](const Tensor& t) { return gone(t.name); });
  std::erase_if(part.modules, [&](const Module& m) { return gone(m.path); });
  return part;
}

/// Source: vLLM 0.33, bailing_moe_v3_vl.py and transformers_utils/configs/bailing_moe_v3_vl.py.
Part bailing_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "bailing_hybrid");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "qwen3_vl_moe_vision");
  Submodel vision = qwen3_vision(v, "Qwen3VLMoe");
  vision.part = without_matrices(std::move(vision.part));
  const Submodel language = text_model(text, "bailing_hybrid");
  const Size side = v.dim({"spatial_merge_size"}, 2);
  const Size wide = times({v.dim({"hidden_size"}), side, side});
  Part inner =
      vision.as("visual") + in("linear_proj", "BailingMoeV3VLProjector",
                               linear("0", wide, language.width, Bias::yes) + module("1", "GELU") +
                                   linear("2", language.width, language.width, Bias::yes));
  return with_language_head(
      in("model", language.class_name, language.part) + at("model", std::move(inner)), text,
      head_is_tied(c, text, false, Inherit::yes), "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::bailing_vl
