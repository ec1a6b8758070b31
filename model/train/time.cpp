#include "model/train/time.hpp"

#include <algorithm>
#include <utility>

#include "model/train/exchange.hpp"
#include "model/train/pass_work.hpp"
#include "model/train/passes.hpp"

namespace headroom::model {
namespace {

/// Share of the expert all-to-all that products of other tokens do not hide. Fitted with the
/// constants.
constexpr double exposed_expert_exchange = 0.5;

/// Dense peak of the products that are not quantised.
FlopsPerSecond plain_peak(const TrainingScenario& s, const Device& card) {
  return card.peak(multiplies_in_fp32(s, card) ? Arithmetic::fp32 : Arithmetic::bf16);
}

/// Adds the spans of what a card does in all passes.
class PassSpans {
 public:
  PassSpans(const TrainingScenario& s, const Device& card, const TrainingPace& pace,
            StepTimeline& time)
      : s_(s), card_(card), pace_(pace), time_(time) {}

  /// Returns the seconds of all passes.
  Seconds add(const PassWork& w) {
    const FlopsPerSecond plain = plain_peak(s_, card_);
    const double compute = pace_.compute.value;
    const FlopsPerSecond peak =
        s_.matrices != nullptr ? card_.peak(s_.matrices->arithmetic) : plain;
    const FlopsPerSecond of_layers = s_.matrices != nullptr ? pace_.narrow.value * peak : plain;
    multiply(StepOperation::matrices, w.matrices, compute * of_layers, peak);
    multiply(StepOperation::experts, w.experts, compute * pace_.grouped.value * of_layers, peak);
    multiply(StepOperation::output, w.head, compute * plain, plain);
    multiply(StepOperation::attention, w.attention, pace_.attention.value * plain, plain);
    move(StepOperation::activations, w.made, pace_.traffic.value);
    move(StepOperation::logits, w.logits, 1);
    move(StepOperation::weights, w.weights, 1);
    return launch(w.dense_kernels);
  }

 private:
  void multiply(StepOperation operation, const Phases<Flops>& flops, FlopsPerSecond rate,
                FlopsPerSecond peak) {
    StepSpan& span = time_.add(operation, time_.passes);
    span.flops = flops;
    span.flops_s = rate;
    span.peak = peak;
  }
  void move(StepOperation operation, const Phases<RealBytes>& bytes, double moves) {
    StepSpan& span = time_.add(operation, time_.passes);
    span.bytes = bytes;
    span.moves = moves;
    span.bytes_s = card_.bandwidth;
  }
  Seconds launch(const Phases<double>& kernels) {
    const Seconds layer(pace_.layer_s.value), busy = time_.count_passes();
    const Seconds all = time_.passes * layer * kernels.sum();
    const Seconds beyond = std::max(Seconds(), all - busy);
    time_.add_counted(StepOperation::launches, beyond).kernels = kernels;
    return busy + beyond;
  }

  const TrainingScenario& s_;
  const Device& card_;
  const TrainingPace& pace_;
  StepTimeline& time_;
};

/// The stage that sets the pace.
struct SlowestStage {
  Size stage = 0;
  PassWork pass;
  Seconds seconds{};  ///< time of all its passes
};

/// Adds the passes of the slowest stage. The last stage has the head.
SlowestStage add_slowest(const TrainingScenario& s, const StepShape& shape, const Device& card,
                         const TrainingPace& pace, StepTimeline& time) {
  SlowestStage slowest{0, pass_work(s, shape, 0), {}};
  slowest.seconds = PassSpans(s, card, pace, time).add(slowest.pass);
  Size seen = 0;
  for (const Size stage : {s.parallel.stages / 2, s.parallel.stages - 1}) {
    if (std::exchange(seen, stage) == stage) continue;
    if (shape.stages[static_cast<std::size_t>(stage)].is_no_slower) continue;
    StepTimeline other;
    other.passes = time.passes;
    const PassWork work = pass_work(s, shape, stage);
    const Seconds taken = PassSpans(s, card, pace, other).add(work);
    if (taken <= slowest.seconds) continue;
    slowest = {stage, work, taken};
    time.spans = other.spans;
    time.groups = other.groups;
  }
  return slowest;
}

void add_exchange(StepOperation operation, double times, const Sent& sent, StepTimeline& time) {
  if (sent.seconds <= Seconds()) return;
  StepSpan& span = time.add(operation, times);
  span.moved = sent.bytes;
  span.seconds = sent.seconds;
}

void add_exchanges(const Exchange& x, StepTimeline& time) {
  using enum StepOperation;
  add_exchange(tensor_sums, time.passes, x.matrices, time);
  add_exchange(expert_tokens, time.passes,
               {x.experts.bytes, exposed_expert_exchange * x.experts.seconds}, time);
  add_exchange(stage_activations, time.passes, x.stages, time);
  add_exchange(ring_keys, time.passes, x.keys, time);
  const double times = x.in_each_pass ? time.passes : 1;
  add_exchange(gathered_weights, times, x.weights, time);
  add_exchange(reduced_gradients, times, x.gradients, time);
  if (x.latency > Seconds()) time.add(ring_latency, time.passes).seconds = x.latency;
}

/// Pipeline bubbles, and the part of the exchanges that nothing hides.
void add_between_cards(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                       const Machine& machine, const TrainingPace& pace,
                       const SlowestStage& slowest, StepTimeline& time) {
  const Parallelism& p = s.parallel;
  const PassWork& w = slowest.pass;
  const StageShape& stage = shape.stages[static_cast<std::size_t>(slowest.stage)];
  const Exchange x = exchange_of(
      s, stage, e,
      {stage.ends, w.tokens, w.routed, w.again, w.attention.again / w.attention.forward}, machine);
  add_exchanges(x, time);
  // Exchanges once a step hide behind the backward of the last pass only.
  time.cover = pace.hidden.value * slowest.seconds * (x.in_each_pass ? 1 : 0.6 / time.passes);
  const Seconds waited_for = time.count_exchanges();
  time.add_counted(StepOperation::bubbles, (slowest.seconds + waited_for) *
                                               real_count(p.stages - 1) /
                                               (time.passes * real_count(p.chunks)));
}

/// Gradients move to a host that optimizes, and weights back. The host reads and writes states,
/// gradients and fp32 weights.
void add_optimizer(const TrainingScenario& s, const TrainingEstimate& e, const Machine& machine,
                   StepTimeline& time) {
  const auto add = [&](StepOperation operation, RealBytes moved, BytesPerSecond rate) {
    const Seconds taken = rate > BytesPerSecond() ? moved / rate : Seconds();
    StepSpan& span = time.add_counted(operation, taken);
    span.moved = moved;
    span.bytes_s = rate;
  };
  if (!s.optimizer_on_host) {
    const Size weights_moved = s.adapter != nullptr ? 0 : 2;
    return add(StepOperation::states_on_card,
               e.gradients.real() + 2.0 * e.master.real() + 2.0 * e.states.real() +
                   static_cast<double>(weights_moved) * e.weights.real(),
               machine.devices.front().bandwidth);
  }
  const double cards = real_count(s.parallel.cards());
  add(StepOperation::gradients_on_bus, 2.0 * (e.gradients + e.gradients_on_host).real(),
      machine.host_bus(0));
  add(StepOperation::states_in_ram, 2.0 * e.host.real() * cards, machine.host.ram_bandwidth);
  if (s.on_disk)
    add(StepOperation::states_on_disk, 2.0 * e.disk.real() * cards, machine.host.disk_read);
}

/// Tokens a second, and useful operations relative to the peak of all cards.
void add_rates(const TrainingScenario& s, const Machine& machine, StepTime& t) {
  const Parallelism& p = s.parallel;
  const double passes = t.timeline.passes;
  const double tokens = tokens_of_pass(s) * passes * real_count(p.replicas);
  t.tokens_s = tokens / t.total().value();
  const Model& m = *s.model;
  const auto layers = static_cast<Size>(m.profile.layers.size());
  const double back = backward_products(s);
  const Flops matrices = all_matrix_flops(s) * passes * real_count(p.replicas);
  const Flops useful = matrices * (1 + back) +
                       tokens * (Flops(2 * real_count(m.profile.head_elements)) * (1 + back) +
                                 attention_flops(s, 0, layers) * 3);
  const FlopsPerSecond peak = plain_peak(s, machine.devices.front());
  t.utilization = useful / (t.total() * peak * real_count(p.cards()));
}

}  // namespace

bool multiplies_in_fp32(const TrainingScenario& s, const Device& card) {
  const bool by_recipe = s.recipe->computes_in_fp32();
  return by_recipe || (s.bf16 && !card.multiplies_bf16());
}

StepTime time_of_step(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                      const Machine& machine, const TrainingPace& pace) {
  StepTime t;
  StepTimeline& time = t.timeline;
  time.passes = real_count(s.accumulated);
  time.link = pace.link.value;
  const SlowestStage slowest = add_slowest(s, shape, machine.devices.front(), pace, time);
  add_between_cards(s, shape, e, machine, pace, slowest, time);
  add_optimizer(s, e, machine, time);
  for (const Seconds group : time.groups) time.total += group;
  t.bound = static_cast<StepGroup>(std::ranges::max_element(time.groups) - time.groups.begin());
  t.unmeasured = pace.interval.measurements == 0;
  add_rates(s, machine, t);
  return t;
}

void put_time(Estimate& outcome, const StepTime& time) {
  outcome.step.time = time.total();
  outcome.step.utilization = time.utilization;
  outcome.tokens_s = time.tokens_s;
  outcome.step_unmeasured = time.unmeasured;
}

}  // namespace headroom::model
