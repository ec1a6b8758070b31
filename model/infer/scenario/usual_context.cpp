#include "model/infer/scenario/usual_context.hpp"

#include <algorithm>

#include "hardware/units.hpp"
#include "model/checkpoint/model.hpp"

namespace headroom::model {

Size least_usual_context(const Scenario& s, const Model& model) {
  constexpr Size together = 8192;
  if (!s.kv_cache || !model.profile.generative || model.encoder_decoder) return 0;
  if (!s.runtime->serving.default_contexts.empty()) return 0;
  const Size context = divided_up(together, s.batch);
  return model.shape.positions > 0 ? std::min(context, model.shape.positions) : context;
}

Size usual_context(const Scenario& s, const Model& model) {
  const Size least = least_usual_context(s, model);
  return least > 0 ? std::max(least, s.prompt_tokens + s.output_tokens) : 0;
}

void set_batch(Scenario& s, Size batch) {
  s.batch = batch;
  if (s.least_context > 0) s.least_context = least_usual_context(s, *s.weights->model);
}

}  // namespace headroom::model
