// Kimi-VL (arXiv:2504.07491): MoonViT under the names of its repository, and DeepSeek-V3's decoder.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::kimi_vl {

/// Source: vLLM 0.33, kimi_vl.py.
Part kimi_vl(const Config& c) {
  const Config text = section_of(c, "text_config", "deepseek_v3");
  const Config v = c.section_or_empty("vision_config");
  const Submodel vision = moonvit(v);
  const auto [rows, columns] = pair_of(v, "merge_kernel_size", 2);
  const Size wide = times({vision.width, rows, columns});
  return vision.as("vision_tower") +
         in("multi_modal_projector", "KimiVLMultiModalProjector",
            layer_norm("pre_norm", vision.width) + linear("linear_1", wide, wide, Bias::yes) +
                module("act", "GELUActivation") +
                linear("linear_2", wide, width_of(text), Bias::yes)) +
         whole_model(text, "language_model");
}

}  // namespace headroom::model::families::kimi_vl
