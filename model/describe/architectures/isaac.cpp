// Isaac: SigLIP 2's tower, pixels shuffled into channels, and Qwen3.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::isaac {

/// Source: vLLM 0.33, isaac.py and transformers_utils/configs/isaac.py. Older files state the text
/// model's keys at the top level.
Part isaac(const Config& c) {
  const Config text =
      with_class_defaults(c.has("text_config") ? c.section("text_config") : c, "qwen3");
  const Config given = c.section_or_empty("vision_config");
  const Config v = with_class_defaults(
      given.with_defaults(
          {{"vision_use_head", false}, {"num_patches", c.dim({"vision_max_num_patches"}, 256)}}),
      "siglip2_vision_model");
  const Submodel vision = siglip2_vision(v), language = text_model(text, "qwen3");
  const Size scale = given.dim({"pixel_shuffle_scale_factor"}, c.dim({"pixel_shuffle_scale"}, 1));
  const Size wide = times({vision.width, scale, scale});
  return with_language_head(in("model", "IsaacModel",
                               in("vision_embedding", "Sequential",
                                  vision.as("0") + linear("1", wide, 4 * wide) +
                                      module("2", "SiLU") + linear("3", 4 * wide, language.width)) +
                                   language.as("text_model")),
                            text, head_is_tied(c, text, false, Inherit::yes),
                            "model.text_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::isaac
