#include "model/train/training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/train/passes.hpp"
#include "model/train/rank.hpp"
#include "model/train/stage_memory.hpp"

namespace headroom::model {

std::string_view name_of(Peak peak) {
  switch (peak) {
    case Peak::forward_end:
      return "the end of forward";
    case Peak::backward_start:
      return "the start of backward";
    case Peak::backward:
      return "backward, in the widest layer";
    case Peak::step:
      return "the optimizer's step";
    case Peak::load:
      return "loading, before weights are sharded";
    case Peak::sum:
      return "no one moment: all terms are added";
  }
  return "";
}

Size usual_sequence(const Model& model) {
  constexpr Size usual = 2048;
  return model.shape.positions > 0 ? std::min(usual, model.shape.positions) : usual;
}

/// One card has nothing to share, but DeepSpeed offloads only under ZeRO (transformers docs
/// deepspeed.md, one GPU).
bool lacks_replicas(const TrainingScenario& s) {
  const bool offloads = runs_deepspeed(*s.runtime) && (s.optimizer_on_host || s.parameters_on_host);
  return s.zero > 0 && s.parallel.alike() == 1 && s.runtime->zero == 0 && !s.runtime->zero_alone &&
         !offloads;
}

namespace {

void check_offload(const TrainingScenario& s) {
  const Offloads& can = s.runtime->offload;
  if (s.parameters_on_host && s.zero < 3)
    throw ImpossibleStep(Reason::nothing_shared,
                         "parameters on the host are shards of weights: they need ZeRO 3 or an "
                         "engine that shards them");
  if (s.optimizer_on_host && s.zero < can.states)
    throw ImpossibleStep(
        Reason::nothing_shared,
        fmt::format("states on the host: {} moves them from ZeRO stage {} on; found stage {}",
                    s.runtime->name, can.states, s.zero));
  if (s.on_disk && can.disk == Offloads::never)
    throw ImpossibleStep(
        Reason::offload_unsupported,
        fmt::format("states or weights on disk: {} moves them to host memory alone (cpu); "
                    "deepspeed has a disk (nvme)",
                    s.runtime->name));
  if (s.on_disk && s.zero < can.disk)
    throw ImpossibleStep(
        Reason::offload_unsupported,
        fmt::format("states on disk (nvme): {} moves them there from ZeRO stage {} on; found stage "
                    "{}, which moves them to host memory (cpu)",
                    s.runtime->name, can.disk, s.zero));
  if (can.together && s.optimizer_on_host != s.parameters_on_host)
    throw ImpossibleStep(
        Reason::offload_unsupported,
        fmt::format("{} moves weights on the host and states on the host together: ask for both",
                    s.runtime->name));
}

}  // namespace

void check_step(const TrainingScenario& s) {
  if (lacks_replicas(s))
    throw ImpossibleStep(
        Reason::nothing_shared,
        "ZeRO shards over data parallel cards, and there is only one: ask for more of them");
  if (s.matrices != nullptr && s.runtime->matrices == MatrixPackage::none)
    throw ImpossibleStep(
        Reason::precision_unsupported,
        fmt::format("{} has no described way to multiply in {}; megatron, fsdp and fsdp2 have one",
                    s.runtime->name, s.matrices->name));
  if (s.zero < 0 || s.zero > 3) throw std::invalid_argument("ZeRO has stages 0 to 3");
  if (s.batch < 1 || s.sequence < 1 || s.accumulated < 1)
    throw std::invalid_argument("a batch, a sequence and passes are at least 1");
  check_base(s);
  check_offload(s);
  if (s.parallel.tensor > 1 && s.zero > s.runtime->zero_with_tensor)
    throw ImpossibleStep(
        Reason::parallelism_unsupported,
        fmt::format("tensor parallel {}: {} has it up to ZeRO stage {}; found stage {}",
                    s.parallel.tensor, s.runtime->name, s.runtime->zero_with_tensor, s.zero));
  if (!(s.imbalance >= 1 && s.imbalance <= 1000))  // not a number is neither
    throw std::invalid_argument("the imbalance of experts is between 1 (even) and 1000");
  check_parallelism(s);
}

TrainingEstimate memory_of_step(const TrainingScenario& s, const StepShape& shape) {
  const KeptByKinds kinds = kept_by_kinds(s, shape);
  TrainingEstimate fullest;
  for (Size stage = 0; stage < s.parallel.stages; ++stage) {
    // Later stages have no more passes in flight.
    if (shape.stages[static_cast<std::size_t>(stage)].repeats) continue;
    const TrainingEstimate e = memory_of_stage(s, shape, kinds, stage);
    if (stage == 0 || e.allocated > fullest.allocated) fullest = e;
  }
  return fullest;
}

TrainingEstimate evaluate_training(const TrainingScenario& s) { return TrainingEvaluator()(s); }

}  // namespace headroom::model
