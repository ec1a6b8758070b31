#include "model/train/tape/live_gradients.hpp"

#include <algorithm>

#include "model/train/tape/layer_run.hpp"

namespace headroom::model {

Size in_place_width(const LayerUse& use, const Kernels& kernels) {
  const bool gate = use.feed_forward && use.feed_forward->gating != Gating::none &&
                    !use.feed_forward->experts && !use.mixer && !use.parallel_experts &&
                    use.then.empty();
  if (!kernels.gates_in_place || !gate || !use.attention) return 0;
  const AttentionUse& a = *use.attention;
  const Size of_heads = 2 * a.heads * a.head_dim + 2 * a.kv_heads * a.head_dim;
  return std::max(use.feed_forward->inner, of_heads);
}

Size score_gradients(const LayerUse& use, const TapeMode& mode) {
  if (!use.attention || use.attention->compressed) return 0;
  const AttentionUse& a = *use.attention;
  if (!keeps_scores(mode.kernels, a)) return 0;
  const Size own = mode.parameters == Held::fp32 && !mode.autocast ? 4 : 2;
  const Size converted = a.softmax_fp32 || mode.autocast ? 4 : own;
  return a.heads * (own + converted);
}

}  // namespace headroom::model
