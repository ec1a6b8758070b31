// The context of a scenario: what an engine reserves when none is asked for, and what a model can.
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

Size Scenario::default_context() const {
  if (runtime == nullptr || runtime->serving.default_contexts.empty()) return 0;
  Bytes memory(0);
  for (const Device& card : machine->devices) memory += usable_memory(card);
  Size tokens = 0;
  for (const DefaultContext& each : runtime->serving.default_contexts)
    if (memory >= each.from) tokens = each.tokens;
  if (const Size positions = weights->model->shape.positions; positions > 0)
    tokens = std::min(tokens, positions);
  return runtime->serving.shared_context ? tokens / batch : tokens;
}

bool Scenario::within_positions() const {
  const Model& model = *weights->model;
  Size taken = cached_tokens();
  if (context == 0 && !model.profile.generative) taken = prompt_tokens;  // nothing is written
  if (context == 0 && model.encoder_decoder) taken = output_tokens;  // the encoder has the prompt
  return model.shape.positions <= 0 || taken <= model.shape.positions;
}

}  // namespace headroom::model
