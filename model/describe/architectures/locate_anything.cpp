// LocateAnything: MoonViT (arXiv:2504.07491) and a Qwen2 that writes boxes as tokens.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::locate_anything {

/// Source: SGLang 0.5.23 models/locate_anything.py.
Part locate_anything(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Config v = c.section_or_empty("vision_config");
  const Submodel vision = moonvit(v);
  const auto [rows, columns] = pair_of(v, "merge_kernel_size", 2);
  const Size wide = times({vision.width, rows, columns}), width = width_of(text);
  return vision.as("vision_model") +
         in("mlp1", "Sequential",
            layer_norm("0", wide) + linear("1", wide, width, Bias::yes) + module("2", "GELU") +
                linear("3", width, width, Bias::yes)) +
         whole_model(text, "language_model");
}

}  // namespace headroom::model::families::locate_anything
