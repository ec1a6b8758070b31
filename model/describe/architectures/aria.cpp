// Aria (arXiv:2410.05993): Idefics 3's tower, a cross-attention projector, and Aria's mixture.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::aria {

/// Source: transformers 5.23, models/aria/modeling_aria.py.
Part aria(const Config& c) {
  const Config text = section_of(c, "text_config", "aria_text");
  const Config v = section_of(c, "vision_config", "idefics3_vision");
  const Submodel vision = vision_model(v), language = text_model(text);
  const Size seen = vision.width, width = language.width;
  Size queries = 256;  // the largest of the table from patches to queries
  if (c.has("projector_patch_to_query_dict")) {
    queries = 0;
    const Config table = c.section("projector_patch_to_query_dict");
    for (const auto& [patches, count] : table.object())
      queries = std::max(queries, table.dim({patches}));
  }
  const Part attention = linear("q_proj", seen, seen) + linear("k_proj", seen, seen) +
                         linear("v_proj", seen, seen) +
                         in("multihead_attn", "MultiheadAttention",
                            tensor("in_proj_weight", {3 * seen, seen}, Role::matmul) +
                                tensor("in_proj_bias", {3 * seen}, Role::bias) +
                                in("out_proj", "NonDynamicallyQuantizableLinear",
                                   tensor("weight", {seen, seen}, Role::matmul) +
                                       tensor("bias", {seen}, Role::bias))) +
                         linear("linear", seen, seen, Bias::yes) + dropout() +
                         layer_norm("layer_norm", seen) + layer_norm("layer_norm_kv", seen);
  return with_language_head(
      in("model", "AriaModel",
         vision.as("vision_tower") +
             in("multi_modal_projector", "AriaProjector",
                tensor("query", {queries, seen}, Role::other) +
                    in("cross_attn", "AriaCrossAttention", attention) +
                    layer_norm("layer_norm", seen) +
                    in("feed_forward", "AriaProjectorMLP",
                       linear("linear_in", seen, width) + linear("linear_out", width, width) +
                           module("act", "NewGELUActivation"))) +
             language.as("language_model")),
      text, head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::aria
