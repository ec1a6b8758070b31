#include "model/train/time.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/train/step_work.hpp"

namespace headroom::model {
namespace {

/// Share of the expert all-to-all that products of other tokens do not hide. Fitted with the
/// constants.
constexpr double experts_apart = 0.5;

/// Dense peak of the products that are not quantised.
double plain_peak(const TrainingScenario& s, const Device& card) {
  const bool fp32 = s.recipe->parameters == Held::fp32 && !s.recipe->autocast;
  return card.peak(fp32 ? Arithmetic::fp32 : Arithmetic::bf16).value();
}

PassRates rates_of(const TrainingScenario& s, const Device& card, const TrainingPace& pace) {
  const double peak = plain_peak(s, card), compute = pace.compute.value;
  const double of_layers =
      s.matrices != nullptr ? pace.narrow.value * card.peak(s.matrices->arithmetic).value() : peak;
  return {compute * of_layers, compute * pace.grouped.value * of_layers, compute * peak,
          pace.attention.value * peak, card.bandwidth.value()};
}

/// All passes of a card in sequence.
StepTime time_of_passes(const StepWork& work, double layer_s) {
  const PassWork& w = work.pass;
  const PassRates& r = work.rates;
  StepTime t;
  t.matrices = work.passes * (w.matrices.sum() / r.matrices + w.experts.sum() / r.experts +
                              w.head.sum() / r.head);
  t.attention = work.passes * w.attention.sum() / r.attention;
  t.traffic = work.passes * (w.made.sum() * work.moves + w.logits.sum()) / r.bandwidth;
  t.weights = work.passes * w.weights.sum() / r.bandwidth;
  const double busy = t.matrices + t.attention + t.traffic + t.weights;
  t.launches = std::max(0.0, work.passes * layer_s * w.dense_kernels.sum() - busy);
  return t;
}
double sum_of_passes(const StepTime& t) {
  return t.matrices + t.attention + t.traffic + t.weights + t.launches;
}

OptimizerWork optimizer_work(const TrainingScenario& s, const TrainingEstimate& e,
                             const Machine& machine) {
  OptimizerWork work;
  if (!s.optimizer_on_host) {
    work.card = {real_count(e.gradients) + 2 * real_count(e.master) + 2 * real_count(e.states) +
                     (s.adapter != nullptr ? 0 : 2 * real_count(e.weights)),
                 machine.devices.front().bandwidth.value()};
    return work;
  }
  const double cards = real_count(s.parallel.cards());
  // Gradients move to the host and weights back. The host reads and writes states, gradients and
  // fp32 weights.
  work.bus = {2 * real_count(e.gradients), machine.host_bus(0).value()};
  work.ram = {2 * real_count(e.host) * cards, machine.host.ram_bandwidth.value()};
  if (s.on_disk) work.disk = {2 * real_count(e.disk) * cards, machine.host.disk_read.value()};
  return work;
}

/// The stage that sets the pace.
struct SlowestStage {
  Size stage = 0;
  double seconds = 0;  ///< of all its passes
};

/// Sets pass and time of `work` to those of the slowest stage. The last stage has the head.
SlowestStage find_slowest(const TrainingScenario& s, const StepShape& shape,
                          const TrainingPace& pace, StepWork& work) {
  StepWork each = work;
  SlowestStage slowest;
  Size seen = -1;
  for (const Size stage : {Size{0}, s.parallel.stages / 2, s.parallel.stages - 1}) {
    if (std::exchange(seen, stage) == stage) continue;
    each.pass = pass_work(s, shape, stage);
    each.time = time_of_passes(each, pace.layer_s.value);
    const double taken = sum_of_passes(each.time);
    if (taken <= slowest.seconds) continue;
    work = each;
    slowest = {stage, taken};
  }
  return slowest;
}

/// Pipeline bubbles, and the part of the exchanges that nothing hides.
void add_exchange(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                  const Machine& machine, const TrainingPace& pace, const SlowestStage& slowest,
                  StepWork& work) {
  const Parallelism& p = s.parallel;
  const PassWork& w = work.pass;
  StepTime& t = work.time;
  const auto [slow, of_passes] = slowest;
  work.exchange = exchange_of(
      s, shape.stages[static_cast<std::size_t>(slow)], e,
      {stage_of(s, slow), w.tokens, w.routed, w.again, w.attention.again / w.attention.forward},
      machine);
  work.exchange.experts.seconds *= experts_apart;
  const Exchange& x = work.exchange;
  const double keys = x.keys.seconds / work.link;
  const double keys_apart = std::max(0.0, keys - w.attention.sum() / work.rates.attention);
  work.shown_of_keys = keys > 0 ? keys_apart / keys : 1;
  const double inside = work.passes * (x.inside() / work.link + keys_apart);
  t.bubble = (of_passes + inside) * real_count(p.stages - 1) / (work.passes * real_count(p.chunks));
  // Exchanges once a step hide behind the backward of the last pass only.
  const double cover = pace.hidden.value * of_passes * (s.zero >= 3 ? 1 : 0.6 / work.passes);
  const double beside = (work.passes * x.pass() + x.step()) / work.link + work.passes * x.latency;
  const double apart = std::max(0.0, beside - cover);
  work.shown = beside > 0 ? apart / beside : 1;
  t.exchange = inside + apart;
}

/// Tokens a second, and useful operations relative to the peak of all cards.
void add_rates(const TrainingScenario& s, const Machine& machine, double passes, StepTime& t) {
  const Parallelism& p = s.parallel;
  const double tokens =
      real_count(s.batch) * real_count(s.sequence) * passes * real_count(p.replicas);
  t.tokens_s = tokens / t.total;
  const Model& m = *s.model;
  const auto layers = static_cast<Size>(m.profile.layers.size());
  const double back = backward_products(s);
  const double matrices =
      matrix_flops(s, 0, layers) * real_count(p.context) * passes * real_count(p.replicas);
  const double useful =
      matrices * (1 + back) + tokens * (2 * real_count(m.profile.head_elements) * (1 + back) +
                                        attention_flops(s, 0, layers) * 3);
  const double peak = plain_peak(s, machine.devices.front());
  t.utilization = useful / (t.total * peak * real_count(p.cards()));
}

}  // namespace

std::array<std::pair<std::string_view, double>, 8> parts_of(const StepTime& t) {
  return {{{"matrices", t.matrices},
           {"attention", t.attention},
           {"activations' traffic", t.traffic},
           {"weights' traffic", t.weights},
           {"launches", t.launches},
           {"pipeline bubbles", t.bubble},
           {"exchange between cards", t.exchange},
           {"the optimizer", t.optimizer}}};
}

StepWork work_of_step(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                      const Machine& machine, const TrainingPace& pace) {
  StepWork work;
  work.passes = real_count(s.accumulated);
  work.rates = rates_of(s, machine.devices.front(), pace);
  work.moves = pace.traffic.value;
  work.link = pace.link.value;
  const SlowestStage slowest = find_slowest(s, shape, pace, work);
  add_exchange(s, shape, e, machine, pace, slowest, work);
  StepTime& t = work.time;
  work.optimizer = optimizer_work(s, e, machine);
  t.optimizer = work.optimizer.seconds();
  t.total = slowest.seconds + t.bubble + t.exchange + t.optimizer;
  t.unmeasured = pace.interval.measurements == 0;
  add_rates(s, machine, work.passes, t);
  const auto parts = parts_of(t);
  t.bound =
      std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first;
  return work;
}

StepTime time_of_step(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                      const Machine& machine, const TrainingPace& pace) {
  return work_of_step(s, shape, e, machine, pace).time;
}

void put_time(Estimate& outcome, const StepTime& time) {
  outcome.step.time = Seconds(time.total);
  outcome.step.utilization = time.utilization;
  outcome.tokens_s = time.tokens_s;
  outcome.step_unmeasured = time.unmeasured;
}

}  // namespace headroom::model
