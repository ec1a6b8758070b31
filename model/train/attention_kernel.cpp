#include "model/train/attention_kernel.hpp"

#include <fmt/format.h>

#include "model/train/tape/layer_run.hpp"

namespace headroom::model {
namespace {

/// Dao-AILab/flash-attention README: all head dimensions up to 256.
constexpr Size widest_head = 256;

}  // namespace

std::string without_flash(const AttentionUse& use) {
  if (use.no_flash_package) return "its class in transformers has none (_supports_flash_attn)";
  if (use.biased_scores) return "a trained bias is added to its scores";
  if (use.query_distances || use.key_distances) return "its scores are also made with distances";
  if (use.linear_positions) return "ALiBi is a bias on its scores";
  if (use.compressed || use.chooses_keys) return "it attends to chosen keys alone";
  if (use.head_dim > widest_head)
    return fmt::format("heads of {} elements are wider than its {}", use.head_dim, widest_head);
  return "";
}

AttentionSupport attention_support(const Model& model) {
  AttentionSupport all;
  const Execution execution = usual_execution(model);
  const auto vision = vision_tower(model);
  for (std::size_t i = 0; i < model.part.blocks.size(); ++i) {
    const auto at = static_cast<Size>(i);
    if (in_a_tower(model, at) || repeats_whole(model, i, model.profile.repeats.first_layer(i)))
      continue;
    const LayerUse use = layer_use(model, execution, vision ? &*vision : nullptr, at);
    if (!use.attention) continue;
    all.sinks = all.sinks || use.attention->sinks;
    if (all.without_flash.empty()) all.without_flash = without_flash(*use.attention);
    all.sdpa = all.sdpa && !keeps_scores(Kernels{}, *use.attention);
  }
  return all;
}

}  // namespace headroom::model
