#include "model/infer/scenario/usual_context.hpp"

#include <algorithm>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

Size usual_context(const Scenario& s, const Model& model) {
  constexpr Size together = 8192;
  if (!s.kv_cache || !model.profile.generative || model.encoder_decoder) return 0;
  if (!s.runtime->serving.default_contexts.empty()) return 0;
  Size context = (together + s.batch - 1) / s.batch;
  if (model.shape.positions > 0) context = std::min(context, model.shape.positions);
  return std::max(context, s.prompt_tokens + s.output_tokens);
}

}  // namespace headroom::model
