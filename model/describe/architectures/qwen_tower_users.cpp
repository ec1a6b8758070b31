// Models with one of Qwen's vision transformers and another text model: OpenCUA (arXiv:2508.09123),
// POINTS 1.5 (arXiv:2412.08443) and Sarashina2-Vision.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::qwen_tower_users {

/// `vision` without the merger at its end.
Part without_merger(Submodel vision, std::string_view name) {
  const auto is_merger = [](const std::string& path) { return path.starts_with("merger"); };
  std::erase_if(vision.part.modules, [&](const Module& m) { return is_merger(m.path); });
  std::erase_if(vision.part.tensors, [&](const Tensor& t) { return is_merger(t.name); });
  return vision.as(name);
}

/// Qwen2.5-VL's tower and a Qwen2 with plain rotary positions. Source: vLLM 0.33 opencua.py.
Part opencua(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "qwen2_5_vl_vision")
                       .with_defaults({{"model_type", "qwen2_5_vl_vision"}});
  return whole_model(text, "language_model", "qwen2") + qwen2_5_vision(v).as("vision_tower");
}

/// Source: SGLang 0.5.23 models/points_v15_chat.py. The merger is a child of its own.
Part points(const Config& c) {
  const Config text = section_of(c, "llm_config", "qwen2");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "qwen2_vl_vision");
  const Size width = width_of(text), seen = v.dim({"embed_dim"});
  const Size wide = seen * v.dim({"spatial_merge_size"}, 2) * v.dim({"spatial_merge_size"}, 2);
  return without_merger(qwen2_vision(v), "vision_encoder") +
         in("vision_projector", "PatchMerger",
            layer_norm("ln_q", seen) + in("mlp", "Sequential",
                                          linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                                              linear("2", wide, width, Bias::yes))) +
         whole_model(text, "llm", "qwen2");
}

/// Source: SGLang 0.5.23 models/sarashina2_vision.py.
Part sarashina2_vision(const Config& c) {
  const Config text = section_of(c, "text_config", "llama");
  const Config v = with_class_defaults(c.section_or_empty("vision_config"), "qwen2_vl_vision");
  return qwen2_vision(v).as("visual") + layer_norm("norm", width_of(text)) +
         whole_model(text, "llm", "llama");
}

}  // namespace headroom::model::families::qwen_tower_users
