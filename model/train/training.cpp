#include "model/train/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/train/factors.hpp"
#include "model/train/passes.hpp"
#include "model/train/rank.hpp"

namespace headroom::model {
namespace {

Bytes whole(double bytes) { return Bytes(static_cast<Size>(std::min(std::ceil(bytes), 9e17))); }
Bytes share(Bytes bytes, Size of) { return of <= 1 ? bytes : Bytes((bytes.count() + of - 1) / of); }

/// The share of dense weights and experts that ZeRO shards from stage `from` on.
Bytes shared(const TrainingScenario& s, Bytes dense, Bytes experts, int from) {
  const bool out = s.zero >= from;
  const Size alike = out ? s.parallel.alike() : 1;
  return share(dense, alike) + share(experts, out ? alike / s.parallel.experts : 1);
}

/// A card of one stage.
TrainingEstimate of_stage(const TrainingScenario& s, const StepShape& shape, Size stage) {
  const SavedActivations& saved = shape.saved;
  const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
  const Recipe& r = *s.recipe;
  const TrainingRuntime& runtime = *s.runtime;
  const bool adapters = s.adapter != nullptr;
  TrainingEstimate e;
  e.stage = stage;
  e.trained = adapters ? shape.adapted : s.model->profile.parameters;
  e.frozen = adapters ? s.model->profile.parameters : 0;

  // Weights, gradients, states.
  RankShare trained = here.elements;
  const RankShare model_elements = trained;
  if (adapters) trained = {.dense = adapters_of_rank(s, shape.adapted)};
  // Towers are on the first stage. Tensor parallelism divides them like other modules.
  const Size frozen =
      adapters || stage > 0 ? 0 : std::min(trained.dense, shape.frozen_tower / s.parallel.tensor);
  trained.dense -= frozen;
  if (!adapters) e.trained -= shape.frozen_tower, e.frozen += shape.frozen_tower;
  const Size weight = adapters ? runtime.adapter_bytes : r.weight;
  const Size gradient = adapters ? runtime.adapter_bytes : r.gradient;
  const Size master = adapters ? 0 : r.master;
  const auto of = [&](Size bytes, int from) {
    return shared(s, bytes * Bytes(trained.dense), bytes * Bytes(trained.experts), from);
  };
  e.weights = of(weight, 3) + shared(s, weight * Bytes(frozen), Bytes(0), 3);
  Bytes unshared = weight * Bytes(trained.total() + frozen);
  if (adapters) {
    e.weights += shared(s, Bytes(here.base.dense), Bytes(here.base.experts), 3);
    unshared += Bytes(here.base.total());
  }
  e.master = of(master, 1);
  e.gradients = of(gradient, runtime.gradients_kept ? 4 : 2);
  const double state_bytes_each =
      static_cast<double>(shape.states.count()) / static_cast<double>(std::max<Size>(1, e.trained));
  const auto states = [&](Size elements) {
    return whole(state_bytes_each * static_cast<double>(elements));
  };
  e.states = shared(s, states(trained.dense), states(trained.experts), 1);
  if (s.trained_copies > 0) {
    // Copies have the model's format, not the adapters'; so do their states.
    const Bytes copies = r.weight * Bytes(s.trained_copies);
    e.trained += s.trained_copies;
    e.weights += shared(s, copies, Bytes(0), 3);
    e.gradients += shared(s, copies, Bytes(0), runtime.gradients_kept ? 4 : 2);
    e.states += shared(s,
                       whole(state_bytes_each * static_cast<double>(r.weight) /
                             static_cast<double>(weight) * static_cast<double>(s.trained_copies)),
                       Bytes(0), 1);
  }
  if (s.optimizer_on_host) {
    e.host = e.master + e.states + of(4, 1);  // plus the fp32 gradients for its update
    e.master = e.states = Bytes(0);
  } else if (s.optimizer->paged) {
    e.host = e.states;  // reserved: they move when the card is full
  }
  if (s.parameters_on_host) e.host += e.weights, e.weights = Bytes(0);
  if (s.on_disk) {
    // DeepSpeed's aio swaps through pinned buffers: 5 of 1e8 elements in fp32 (buffer_count,
    // buffer_size).
    e.disk = e.host;
    e.host = std::min(e.host, Bytes(Size{5} * 100'000'000 * 4));
  }

  // Activations.
  const Kept kept = kept_by_pass(s, shape, stage);
  const double passes = passes_in_flight(s, stage);
  e.in_flight = static_cast<Size>(std::ceil(passes));
  const bool again = s.recomputation == Recomputation::full;
  const bool partly = s.recomputation == Recomputation::selective &&
                      runtime.selective == Selective::but_every_2nd_mm;
  e.other = whole(passes * (kept.embedding_and_head + (again ? kept.inputs : 0)));
  e.attention = again ? Bytes(0) : whole(passes * kept.attention);
  e.feed_forward = again ? Bytes(0) : whole(passes * kept.feed_forward);
  e.activations = e.attention + e.feed_forward + e.other;
  e.recomputed = again || partly ? whole(kept.layer) : Bytes(0);
  e.transient = whole(kept.transient);
  const bool makes_loss = stage_of(s, stage).has_head;
  LossBytes loss = makes_loss ? loss_bytes(s, saved) : LossBytes{};

  // Communication buffers.
  if (s.zero >= 3) {
    const Size element = adapters && s.base != nullptr ? 1 : 2;
    const Size layers = runtime.gather_layers * model_elements.largest_layer;
    // Of embedding and head, only the one in use, unless both stay.
    const Size ends = runtime.ends_stay ? model_elements.embedding_and_head
                                        : model_elements.embedding_and_head / 2;
    e.gathered = element * Bytes(layers) + 2 * Bytes(ends);
    if (!adapters) e.gathered += gradient * Bytes(model_elements.largest_layer);
  } else if (s.zero >= 1 && runtime.reduce_elements > 0) {
    e.gathered = gradient * Bytes(std::min(trained.total(), runtime.reduce_elements));
  }
  e.scratch = runtime.workspace + 2 * Bytes(here.distinct);
  if (quantised_operands(s)) {  // for the gathered layer if weights are sharded
    const Size copied = s.zero >= 3 ? model_elements.largest_layer
                                    : model_elements.total() - model_elements.embedding_and_head;
    e.scratch += whole(2 * s.matrices->bits / 8 * static_cast<double>(copied));
  }
  if (!s.optimizer_on_host) {
    if (s.optimizer->step_copies > 0 && !runtime.fused_step)
      e.step = s.optimizer->step_copies * of(adapters ? runtime.adapter_bytes : r.stepped(), 1);
    if (s.zero > 0) {
      const Bytes copy = of(runtime.step_gradient_bytes, 1);
      const Bytes piece = runtime.step_gradient_bytes * Bytes(runtime.subgroup_elements);
      e.step += s.zero >= 3 && runtime.subgroup_elements > 0 ? std::min(copy, piece) : copy;
    }
  }

  apply_factors(s, stage_of(s, stage), e, loss.forward_end, loss.backward_start);

  // The four moments.
  const Bytes held = e.weights + e.master + e.states + e.scratch;
  const Bytes before = s.accumulated > 1 || runtime.gradients_kept ? e.gradients : Bytes(0);
  e.at_forward_end = held + before + e.activations + e.gathered + whole(loss.forward_end);
  const Bytes widest = makes_loss ? whole(loss.backward_start) : e.transient + e.recomputed;
  e.at_backward_start = held + before + e.activations + e.gathered + widest;
  const Bytes last_layer = again || partly ? e.recomputed : whole(kept.layer);
  e.in_backward = held + e.gradients + e.gathered + last_layer + e.transient +
                  (again || partly ? e.activations : Bytes(0));
  if (runtime.gradients_kept && passes > 1)  // the stages behind go on: one pass is freed at a time
    e.in_backward = std::max(e.in_backward, held + e.gradients + e.activations + e.transient);
  e.at_step = held + e.gradients + e.step;
  if (s.zero >= 3 && runtime.loads_whole) e.at_load = unshared + e.weights;
  e.allocated =
      std::max({e.at_forward_end, e.at_backward_start, e.in_backward, e.at_step, e.at_load});
  e.moment = e.allocated == e.at_load             ? Peak::load
             : e.allocated == e.at_step           ? Peak::step
             : e.allocated == e.at_backward_start ? Peak::backward_start
             : e.allocated == e.at_forward_end    ? Peak::forward_end
                                                  : Peak::backward;
  e.gradients_alive = e.moment == Peak::step || e.moment == Peak::backward ||
                      (e.moment != Peak::load && before > Bytes(0));
  e.loss = whole(e.moment == Peak::forward_end      ? loss.forward_end
                 : e.moment == Peak::backward_start ? loss.backward_start
                                                    : 0);
  if (const auto all = s.factors.find("add_all_terms"); all != s.factors.end() && all->second > 0) {
    e.moment = Peak::sum;
    e.gradients_alive = true;
    e.loss = whole(loss.backward_start);
    e.allocated = held + e.gradients + e.activations + e.recomputed + e.transient + e.loss +
                  e.gathered + e.step;
  }
  // Permanent memory is allocated once and leaves no gaps.
  const Bytes lasting = e.moment == Peak::load
                            ? e.allocated
                            : held + (runtime.gradients_kept ? e.gradients : Bytes(0));
  const Size comes_and_goes = std::max<Size>(0, e.allocated.count() - lasting.count());
  e.fragmentation = whole(static_cast<double>(comes_and_goes) * runtime.fragmentation.value);
  e.context = whole(runtime.context_bytes.value);
  apply_overheads(s, e);
  e.reserved = e.allocated + e.fragmentation;
  e.peak = e.reserved + e.context;
  e.peak_low = whole(static_cast<double>(e.peak.count()) * runtime.spread.low);
  e.peak_high = whole(static_cast<double>(e.peak.count()) * runtime.spread.high);
  return e;
}

}  // namespace

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
      return "loading, before weights are shared out";
    case Peak::sum:
      return "no one moment: all terms are added";
  }
  return "";
}

void check_step(const TrainingScenario& s) {
  if (s.zero > 0 && s.parallel.alike() == 1 && s.runtime->zero == 0 && !s.runtime->zero_alone)
    throw ImpossibleStep(Reason::nothing_shared,
                         "ZeRO shares out over data parallel cards, and there is one");
  if (s.matrices != nullptr && s.runtime->matrices == MatrixPackage::none)
    throw ImpossibleStep(Reason::precision_unsupported,
                         fmt::format("no way of {} to multiply in {} is described; "
                                     "megatron, fsdp and fsdp2 have one",
                                     s.runtime->name, s.matrices->name));
  if (s.zero < 0 || s.zero > 3) throw std::invalid_argument("ZeRO has stages 0 to 3");
  if (s.batch < 1 || s.sequence < 1 || s.accumulated < 1)
    throw std::invalid_argument("a batch, a sequence and passes are at least 1");
  if (s.parameters_on_host && s.zero < 3)
    throw ImpossibleStep(
        Reason::nothing_shared,
        "parameters on the host are shards of weights: they take ZeRO 3 or an engine that shares "
        "them");
  if (s.imbalance < 1 || s.imbalance > 1000)
    throw std::invalid_argument("the imbalance of experts is between 1 (even) and 1000");
  check_parallelism(s);
}

TrainingEstimate memory_of_step(const TrainingScenario& s, const StepShape& shape) {
  TrainingEstimate fullest;
  for (Size stage = 0; stage < s.parallel.stages; ++stage) {
    TrainingEstimate e = of_stage(s, shape, stage);
    if (stage == 0 || e.allocated > fullest.allocated) fullest = std::move(e);
  }
  return fullest;
}

TrainingEstimate evaluate_training(const TrainingScenario& s) {
  TrainingEstimate e = TrainingEvaluator()(s);
  return e;
}

}  // namespace headroom::model
