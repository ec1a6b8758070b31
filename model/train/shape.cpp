#include "model/train/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/checkpoint/position_table.hpp"
#include "model/train/adapter_kept.hpp"
#include "model/train/pass_work.hpp"
#include "model/train/passes.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

/// Everything that StepShape depends on.
struct Key {
  const Model* model;
  const QuantisedModel *plain, *base;
  const Adapter* adapter;
  const Optimizer* optimizer;
  const Recipe* recipe;
  const MatrixFormat* matrices;
  const TrainingRuntime* runtime;
  Size tensor, stages, experts;
  double imbalance;
  AttentionKernel attention;
  bool one_sequence, frozen_inputs, selective, fused_kernels, compiled, ring, flat, tower_frozen;
  friend bool operator==(const Key&, const Key&) = default;
};
Key key_of(const TrainingScenario& s) {
  return {s.model,
          s.plain,
          s.base,
          s.adapter,
          s.optimizer,
          s.recipe,
          s.matrices,
          s.runtime,
          s.parallel.tensor,
          s.parallel.stages,
          s.parallel.experts,
          s.imbalance,
          s.attention,
          s.batch == 1,
          s.frozen_inputs,
          s.recomputation == Recomputation::selective,
          s.fused_kernels,
          s.compiled,
          s.parallel.context > 1,
          s.zero > 0,
          s.tower_frozen};
}

/// Optimizer states of all trained parameters before sharding. Sharded states are cut from flat
/// buffers, so matrices count as vectors.
Bytes states_of_trained(const TrainingScenario& s) {
  const Size bytes = s.adapter != nullptr ? s.runtime->adapter_bytes : s.recipe->stepped();
  const auto shaped = [&](Tensor t) {
    if (s.zero > 0) t.shape = {t.elements()}, t.role = Role::bias;
    return state_bytes(*s.optimizer, t, bytes);
  };
  Bytes sum;
  if (s.adapter == nullptr) {
    const auto tower = s.tower_frozen ? vision_tower(*s.model) : std::nullopt;
    for (const Tensor& t : s.model->part.tensors)
      if (t.is_parameter() && t.tied_to.empty() && !(tower && tower->contains(t.name)))
        sum += shaped(t);
    return sum;
  }
  for (const AdaptedModule& m : s.adapter->modules) {
    sum += shaped({"", {m.copies * m.rank, m.in}, Role::matmul});
    sum += shaped({"", {m.out, m.copies * m.rank}, Role::matmul});
    if (m.magnitudes > 0) sum += shaped({"", {m.magnitudes}, Role::other});
  }
  return sum;
}

StageShape stage_shape(const TrainingScenario& s, const SavedActivations& saved, Size stage) {
  const Stage here = stage_of(s, stage);
  StageShape shape{.ends = here,
                   .elements = elements_of_rank(s, stage),
                   .base = s.adapter != nullptr ? base_of_rank(s, stage) : RankShare{},
                   .distinct = s.runtime->gradient_scratch && s.adapter == nullptr
                                   ? distinct_matrices(s, stage)
                                   : 0,
                   .layers = std::vector<Size>(saved.kinds.size()),
                   .widest = std::vector<double>(saved.kinds.size())};
  for (Size i = here.first; i < here.last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::size_t kind = saved.kind_of[at];
    shape.layers[kind] += saved.passes[at];
    shape.widest[kind] = std::max(shape.widest[kind], s.model->profile.layers[at].widest);
    const Size used = s.model->profile.layers[at].routing.used;
    shape.routed += used > 0 ? 1 : 0;
    shape.chosen += std::max<Size>(0, used);
  }
  return shape;
}

/// True if a pass over `stage` takes no longer than one over `other`, whatever the sizes are.
/// Neither has the head, both have the same layers, and `stage` has no more weights.
bool is_no_slower(const Model& model, const StageShape& stage, const StageShape& other) {
  const auto layers = [](const StageShape& of) { return Range{of.ends.first, of.ends.last}; };
  const auto has_equal = [&](const auto& before) {
    return between(before, layers(stage)) == between(before, layers(other));
  };
  const Profile& p = model.profile;
  return !stage.ends.has_head && !other.ends.has_head &&
         layers(stage).size() == layers(other).size() && stage.layers == other.layers &&
         stage.routed == other.routed && stage.chosen == other.chosen &&
         stage.elements.total() <= other.elements.total() &&
         stage.base.total() <= other.base.total() && has_equal(p.multiplied_before) &&
         has_equal(p.routed_before) && std::ranges::all_of(p.caches, [&](const CacheClass& c) {
           return c.score_dims_before.empty() || has_equal(c.score_dims_before);
         });
}

Size frozen_tower(const TrainingScenario& s) {
  const auto tower = s.tower_frozen ? vision_tower(*s.model) : std::nullopt;
  Size sum = 0;
  if (tower)
    for (const Tensor& t : s.model->part.tensors)
      if (t.is_parameter() && tower->contains(t.name)) sum += t.elements();
  return sum;
}

StepShape shape_of(const TrainingScenario& s) {
  StepShape shape{.saved = saved_of(s),
                  .states = states_of_trained(s),
                  .adapted = s.adapter != nullptr ? s.adapter->parameters() : 0,
                  .adapter_kept = adapter_kept(s, false),
                  .adapter_kept_in_tower = adapter_kept(s, true),
                  .adapter_lengths = length_bytes(s),
                  .learned_positions = has_position_table(*s.model),
                  .frozen_tower = frozen_tower(s),
                  .stages = {}};
  for (Size stage = 0; stage < s.parallel.stages; ++stage) {
    shape.stages.push_back(stage_shape(s, shape.saved, stage));
    StageShape& made = shape.stages.back();
    made.is_no_slower = is_no_slower(*s.model, made, shape.stages.front());
    if (stage > 0) made.repeats = made.holds_as(*std::prev(shape.stages.end(), 2));
  }
  return shape;
}

void check_positions(const TrainingScenario& s, const StepShape& shape) {
  const Size positions = s.model->shape.positions;
  if (shape.learned_positions && s.sequence > positions)
    throw ImpossibleStep(
        Reason::context_too_long,
        fmt::format("sequences of {} tokens: {} has learned {} positions, and no further ones",
                    s.sequence, s.model->name, positions));
}

}  // namespace

struct TrainingEvaluator::Memory {
  Key key{};
  StepShape shape;
};

TrainingEvaluator::TrainingEvaluator() = default;
TrainingEvaluator::~TrainingEvaluator() = default;

const StepShape& TrainingEvaluator::shape_for(const TrainingScenario& s) {
  check_step(s);
  const Key key = key_of(s);
  if (!memory_ || !(memory_->key == key))
    memory_ = std::make_unique<Memory>(Memory{key, shape_of(s)});
  check_positions(s, memory_->shape);
  return memory_->shape;
}

TrainingEstimate TrainingEvaluator::operator()(const TrainingScenario& s) {
  const StepShape& step = shape_for(s);
  check_described(s, step.saved);
  check_attention(s, step.saved);
  return memory_of_step(s, step);
}

TrainingFloor TrainingEvaluator::floor(const TrainingScenario& s) {
  const TrainingEstimate e = memory_of_step(s, shape_for(s));
  return {.weights = e.weights,
          .master = e.master,
          .gradients = e.gradients,
          .states = e.states,
          .host = e.host,
          .disk = e.disk,
          .trained = e.trained};
}

const StepShape& TrainingEvaluator::shape() const { return memory_->shape; }

}  // namespace headroom::model
