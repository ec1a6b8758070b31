#include "model/train/stage_memory.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/units.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/train/factors.hpp"
#include "model/train/passes.hpp"
#include "model/train/rank.hpp"
#include "model/train/step_memory.hpp"

namespace headroom::model {
namespace {

/// Fills in the terms of one estimate, in the order in which they depend on each other.
class StageMemory {
 public:
  StageMemory(const TrainingScenario& scenario, const StepShape& step_shape,
              const KeptByKinds& by_kinds, Size of_stage)
      : s(scenario), shape(step_shape), kinds(by_kinds), stage(of_stage) {}
  TrainingEstimate estimate() &&;

 private:
  void count_elements();
  void add_weights();
  void add_states();
  void add_trained_copies();
  void offload();
  void move_gradients();
  void add_activations();
  void add_communication();
  void add_scratch();
  void add_step();
  void compare_moments();
  Bytes gradients_and_activations() const;
  void choose_peak();
  void add_all_terms();
  void add_overheads();

  /// Bytes of the trained elements on this card if ZeRO shards them from stage `from` on.
  Bytes of(Size bytes, int from) const {
    return zero_share(s, bytes * Bytes(trained.dense), bytes * Bytes(trained.experts), from);
  }
  Bytes states(Size elements) const {
    return rounded_up(state_bytes_each * static_cast<double>(elements));
  }

  const TrainingScenario& s;
  const StepShape& shape;
  const KeptByKinds& kinds;
  Size stage;
  const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
  const Recipe& r = *s.recipe;
  const TrainingRuntime& runtime = *s.runtime;
  bool adapters = s.adapter != nullptr;
  Size weight = adapters ? runtime.adapter_bytes : r.weight;
  Size gradient = adapters ? runtime.adapter_bytes : r.gradient;
  bool again = recomputes_layers(s.recomputation);
  bool inputs_on_host = s.recomputation == Recomputation::offloaded;
  bool partly = s.recomputation == Recomputation::selective &&
                runtime.selective == Selective::but_every_2nd_mm;
  bool makes_loss = here.ends.has_head;

  RankShare trained = here.elements;
  RankShare model_elements = trained;
  Size frozen = 0;
  double state_bytes_each = 0;
  Bytes unshared;  ///< weights of this card before ZeRO shards them
  Kept kept;
  double passes = 1;
  LossBytes loss;
  Bytes held;                    ///< allocated in the whole step
  Bytes before;                  ///< gradients that exist before backward
  bool gradients_stay = false;   ///< their buffers exist during the whole run
  bool frees_gradients = false;  ///< before the optimizer's peak
  TrainingEstimate e;
};

void StageMemory::count_elements() {
  e.stage = stage;
  e.trained = adapters ? shape.adapted : s.model->profile.parameters;
  e.frozen = adapters ? s.model->profile.parameters : 0;
  if (adapters) trained = {.dense = adapters_of_rank(s, shape.adapted)};
  // Towers are on the first stage. Tensor parallelism divides them like other modules.
  frozen =
      adapters || stage > 0 ? 0 : std::min(trained.dense, shape.frozen_tower / s.parallel.tensor);
  trained.dense -= frozen;
  if (!adapters) e.trained -= shape.frozen_tower, e.frozen += shape.frozen_tower;
}

void StageMemory::add_weights() {
  e.weights = of(weight, 3) + zero_share(s, weight * Bytes(frozen), Bytes(0), 3);
  unshared = weight * Bytes(trained.total() + frozen);
  if (!adapters) return;
  e.weights += zero_share(s, Bytes(here.base.dense), Bytes(here.base.experts), 3);
  unshared += Bytes(here.base.total());
}

void StageMemory::add_states() {
  e.master = of(adapters ? 0 : r.master, 1);
  e.gradients = of(gradient, 2);
  state_bytes_each =
      static_cast<double>(shape.states.count()) / static_cast<double>(std::max<Size>(1, e.trained));
  e.states = zero_share(s, states(trained.dense), states(trained.experts), 1);
}

/// Copies have the format of the model, not of the adapters. So do their states.
void StageMemory::add_trained_copies() {
  if (s.trained_copies <= 0) return;
  const Bytes copies = r.weight * Bytes(s.trained_copies);
  e.trained += s.trained_copies;
  e.weights += zero_share(s, copies, Bytes(0), 3);
  e.gradients += zero_share(s, copies, Bytes(0), 2);
  e.states +=
      zero_share(s,
                 rounded_up(state_bytes_each * static_cast<double>(r.weight) /
                            static_cast<double>(weight) * static_cast<double>(s.trained_copies)),
                 Bytes(0), 1);
}

void StageMemory::offload() {
  if (s.optimizer_on_host) {
    e.host = e.master + e.states + of(4, 1);  // the update needs fp32 gradients, too
    e.master = e.states = Bytes(0);
  }
  if (s.parameters_on_host) e.host += e.weights, e.weights = Bytes(0);
  if (s.on_disk) {
    // DeepSpeed's aio swaps through pinned buffers: 5 of 1e8 elements in fp32 (buffer_count,
    // buffer_size).
    e.disk = e.host;
    e.host = std::min(e.host, Bytes(Size{5} * 100'000'000 * 4));
  }
  if (s.optimizer_on_host && s.zero >= 2 && !runtime.gradients_kept) move_gradients();
}

/// Shards of gradients go to the host as soon as they are reduced, also where states are on disk
/// (DeepSpeed 0.12 stage3.py grad_partitions_flat_buffer, stage_1_and_2.py copy_grads_in_partition;
/// torch's FSDP). ZeRO 1 reduces after backward. The host keeps 16-bit gradients besides the fp32
/// ones; ZeRO 2 only where passes add up (async_accumulate_grad_in_cpu_via_gpu).
void StageMemory::move_gradients() {
  const bool kept_in_16_bit = gradient < 4 && (s.zero >= 3 || s.accumulated > 1);
  e.gradients_on_host = e.gradients;
  if (kept_in_16_bit) e.host += e.gradients;
  e.gradients = Bytes(0);
}

void StageMemory::add_activations() {
  kept = kept_by_pass(s, shape, kinds, stage);
  passes = passes_in_flight(s, stage);
  e.in_flight = static_cast<Size>(std::ceil(passes));
  double inputs = again ? kept.inputs : 0;
  if (inputs_on_host) {
    // one layer's input is on the card while the layer runs
    const double layers = real_count(here.ends.last - here.ends.first);
    const double moved = inputs * (1 - 1 / std::max(1.0, layers));
    inputs -= moved;
    e.host += rounded_up(passes * moved);
  }
  e.other = rounded_up(passes * (kept.embedding_and_head + inputs));
  e.attention = again ? Bytes(0) : rounded_up(passes * kept.attention);
  e.feed_forward = again ? Bytes(0) : rounded_up(passes * kept.feed_forward);
  e.activations = e.attention + e.feed_forward + e.other;
  e.recomputed = again || partly ? rounded_up(kept.layer) : Bytes(0);
  e.transient = rounded_up(kept.transient);
  loss = makes_loss ? loss_bytes(s, shape.saved) : LossBytes{};
}

void StageMemory::add_communication() {
  if (s.zero >= 3) {
    const Size element = adapters && s.base != nullptr ? 1 : 2;
    const Size layers = runtime.gather_layers * model_elements.largest_layer;
    // Embedding or head is gathered, whichever is in use, unless both stay.
    const Size ends = runtime.embedding_and_head_stay ? model_elements.embedding_and_head
                                                      : model_elements.embedding_and_head / 2;
    e.gathered = element * Bytes(layers) + 2 * Bytes(ends);
    if (!adapters) e.gathered += gradient * Bytes(model_elements.largest_layer);
  } else if (s.zero >= 1 && runtime.reduce_elements > 0) {
    e.gathered = gradient * Bytes(std::min(trained.total(), runtime.reduce_elements));
  } else if (s.zero == 2 && runtime.gradients_kept && !adapters) {
    e.gathered = gradient * Bytes(model_elements.largest_layer);  // whole until it is reduced
  }
}

void StageMemory::add_scratch() {
  e.scratch = runtime.workspace + 2 * Bytes(here.distinct);
  if (!quantised_operands(s)) return;
  // Sharded weights have a copy of the gathered layer only.
  const Size copied = s.zero >= 3 ? model_elements.largest_layer
                                  : model_elements.total() - model_elements.embedding_and_head;
  e.scratch += rounded_up(2 * s.matrices->bits / 8 * static_cast<double>(copied));
}

void StageMemory::add_step() {
  if (s.optimizer_on_host) return;
  const StepMemory step = step_memory(s, {.partition = of(1, 1).count(),
                                          .gradient_bytes = gradient,
                                          .stepped_bytes = adapters ? weight : r.stepped()});
  e.step = step.bytes;
  frees_gradients = step.frees_gradients;
}

void StageMemory::compare_moments() {
  held = e.weights + e.master + e.states + e.scratch;
  gradients_stay = runtime.gradients_kept || s.zero >= runtime.gradient_buffer_from;
  before = s.accumulated > 1 || gradients_stay ? e.gradients : Bytes(0);
  e.at_forward_end = held + before + e.activations + e.gathered + rounded_up(loss.forward_end);
  const Bytes widest = makes_loss ? rounded_up(loss.backward_start) : e.transient + e.recomputed;
  e.at_backward_start = held + before + e.activations + e.gathered + widest;
  const Bytes last_layer = again || partly ? e.recomputed : rounded_up(kept.layer);
  e.in_backward = held + e.gathered + last_layer + e.transient + gradients_and_activations();
  // Later stages go on meanwhile, so passes are freed one at a time.
  if (runtime.gradients_kept && passes > 1)
    e.in_backward = std::max(e.in_backward, held + e.gradients + e.activations + e.transient);
  e.at_step = held + (frees_gradients ? Bytes(0) : e.gradients) + e.step;
  // DeepSpeed's engine moves a module that zero.Init did not divide to the card as a whole
  // (runtime/engine.py _configure_distributed_model), then frees each weight as it is divided.
  if (s.zero >= 3 && s.loads_whole) e.at_load = unshared;
  if (s.zero >= 3 && runtime.loads_whole) e.at_load = unshared + e.weights;
  e.allocated =
      std::max({e.at_forward_end, e.at_backward_start, e.in_backward, e.at_step, e.at_load});
}

/// Gradients and kept inputs of layers while a layer is recomputed. Backward makes one gradient
/// where it drops one input, so the sum is largest at one end: all inputs, or all gradients.
Bytes StageMemory::gradients_and_activations() const {
  if (!again && !partly) return e.gradients;
  const Size first = model_elements.largest_layer + model_elements.embedding_and_head / 2;
  const Bytes of_first = adapters ? Bytes(0) : zero_share(s, gradient * Bytes(first), Bytes(0), 2);
  const Bytes made = e.gradients - before;
  return before + std::max(made, e.activations + std::min(made, of_first));
}

void StageMemory::choose_peak() {
  e.moment = e.allocated == e.at_load             ? Peak::load
             : e.allocated == e.at_step           ? Peak::step
             : e.allocated == e.at_backward_start ? Peak::backward_start
             : e.allocated == e.at_forward_end    ? Peak::forward_end
                                                  : Peak::backward;
  e.gradients_alive = e.moment == Peak::step ? !frees_gradients
                                             : e.moment == Peak::backward ||
                                                   (e.moment != Peak::load && before > Bytes(0));
  e.loss = rounded_up(e.moment == Peak::forward_end      ? loss.forward_end
                      : e.moment == Peak::backward_start ? loss.backward_start
                                                         : 0);
}

/// The sum of all terms replaces the largest moment if a factor asks for that.
void StageMemory::add_all_terms() {
  const auto all = s.factors.find("add_all_terms");
  if (all == s.factors.end() || !(all->second > 0)) return;
  e.moment = Peak::sum;
  e.gradients_alive = true;
  e.loss = rounded_up(loss.backward_start);
  e.allocated = held + e.gradients + e.activations + e.recomputed + e.transient + e.loss +
                e.gathered + e.step;
}

void StageMemory::add_overheads() {
  // Permanent memory is allocated once and leaves no gaps.
  const Bytes lasting =
      e.moment == Peak::load ? e.allocated : held + (gradients_stay ? e.gradients : Bytes(0));
  const Size comes_and_goes = std::max<Size>(0, e.allocated.count() - lasting.count());
  e.fragmentation = rounded_up(static_cast<double>(comes_and_goes) * runtime.fragmentation.value);
  e.context = rounded_up(runtime.context_bytes.value);
  apply_overheads(s, e);
  e.reserved = e.allocated + e.fragmentation;
  e.peak = e.reserved + e.context;
  const double sure = real_count(e.certain()), rest = real_count(e.peak) - sure;
  e.peak_low = rounded_up(sure + rest * runtime.spread.low);
  e.peak_high = rounded_up(sure + rest * runtime.spread.high);
}

TrainingEstimate StageMemory::estimate() && {
  count_elements();
  add_weights();
  add_states();
  add_trained_copies();
  offload();
  add_activations();
  add_communication();
  add_scratch();
  add_step();
  apply_factors(s, here.ends, e, loss.forward_end, loss.backward_start);
  compare_moments();
  choose_peak();
  add_all_terms();
  add_overheads();
  return e;
}

}  // namespace

TrainingEstimate memory_of_stage(const TrainingScenario& s, const StepShape& shape,
                                 const KeptByKinds& kinds, Size stage) {
  return StageMemory(s, shape, kinds, stage).estimate();
}

}  // namespace headroom::model
