// The context and the stages of a scenario that follow where none are asked for.
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

Size Scenario::own_context() const {
  Bytes memory(0);
  for (const Device& card : machine->devices) memory += usable_memory(card);
  Size tokens = 0;
  for (const DefaultContext& each : runtime->serving.default_contexts)
    if (memory >= each.from) tokens = each.tokens;
  if (const Size positions = weights->model->shape.positions; positions > 0)
    tokens = std::min(tokens, positions);
  return runtime->serving.shared_context ? tokens / batch : tokens;
}

Size Scenario::stages() const {
  const bool asked = pipeline_parallel > 0 || tensor_parallel > 0 || expert_parallel > 1 ||
                     data_parallel > 1 || draft != nullptr;
  const Host& host = machine->host;
  const auto cards = static_cast<Size>(machine->devices.size());
  const bool full = host.cards > 1 && cards == Size{host.cards} * host.boxes;
  if (asked || runtime == nullptr || !runtime->parallel.stage_a_box || !full ||
      host.boxes > std::ssize(weights->layer))
    return std::max<Size>(1, pipeline_parallel);
  return host.boxes;
}

bool Scenario::within_positions() const {
  const Model& model = *weights->model;
  Size taken = cached_tokens();
  if (context == 0 && !model.writes()) taken = prompt_tokens;        // nothing is written
  if (context == 0 && model.encoder_decoder) taken = output_tokens;  // the encoder has the prompt
  return model.shape.positions <= 0 || taken <= model.shape.positions;
}

const Machine& computing_machine(const Scenario& s) {
  return s.gpu_budget > Bytes(0) ? *s.machine : machine_without_cards();
}

}  // namespace headroom::model
