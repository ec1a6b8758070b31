#include "model/training/time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/training/passes.hpp"

namespace headroom::model {
namespace {

constexpr double attention_backward = 2.5;  ///< of forward: five products for two
constexpr double unpacked_bytes = 5;  ///< of a 4-bit element: read, written and read in 16 bit

double number(Size n) { return static_cast<double>(n); }
double number(Bytes n) { return static_cast<double>(n.count()); }

/// What one pass of one card is made of.
struct Work {
  double matrix = 0;     ///< FLOPs of forward
  double attention = 0;  ///< FLOPs of forward
  double layers = 0;
  double routed = 0;  ///< elements that tokens bring to experts, all layers
};

/// FLOPs of scores and values of one token, on average over a sequence, times two: 4 per dimension
/// of all heads and token looked at.
double attention_flops(const Model& m, Size first, Size last, double sequence) {
  double flops = 0;
  for (const CacheClass& cache : m.profile.caches) {
    if (cache.score_dims_before.empty()) continue;
    const double dims = number(cache.score_dims_before[static_cast<std::size_t>(last)] -
                               cache.score_dims_before[static_cast<std::size_t>(first)]);
    const double window = cache.window > 0 ? number(cache.window) : sequence;
    const double seen = sequence <= window ? sequence / 2 : window * (1 - window / (2 * sequence));
    flops += 2 * dims * seen;
  }
  if (flops == 0)  // encoders look both ways
    flops = 4 * number(m.shape.hidden_size) * sequence * number(last - first);
  return flops;
}

Work work_of(const TrainingScenario& s, Size stage) {
  const Model& m = *s.model;
  const Stage here = stage_of(s, stage);
  const auto first = static_cast<std::size_t>(here.first),
             last = static_cast<std::size_t>(here.last);
  const double tensor = number(s.parallel.tensor);
  const double tokens = number(s.batch) * number(s.sequence) / number(s.parallel.context);
  Work w;
  const auto& all = m.profile.multiplied_before;
  double elements = all[last] - all[first];
  if (here.has_head && s.head_loss) elements += number(m.profile.head_elements);
  w.matrix = 2 * tokens * elements / tensor;
  w.attention = tokens * attention_flops(m, here.first, here.last, number(s.sequence)) / tensor;
  w.layers = number(here.last - here.first);
  for (std::size_t i = first; i < last; ++i)
    w.routed += tokens * number(m.profile.layers[i].routing.used) * number(m.shape.hidden_size);
  return w;
}

/// The share of forward that is made again: of matrices, of attention, of what is kept.
std::array<double, 2> again_of(const TrainingScenario& s) {
  switch (s.recomputation) {
    case Recomputation::none:
      return {0, 0};
    case Recomputation::full:
      return {1, 1};
    case Recomputation::selective:
      return s.runtime->selective == Selective::attention ? std::array{0.0, 1.0}
                                                          : std::array{0.5, 0.0};
  }
  return {0, 0};
}

double share_of_ring(double cards) { return cards > 1 ? (cards - 1) / cards : 0; }

/// Seconds between tensor-parallel, expert-parallel and pipeline cards, of one pass: nothing hides
/// them.
double exchange_of_pass(const TrainingScenario& s, const Work& w, const Machine& machine,
                        double link, double again) {
  const Parallelism& p = s.parallel;
  const double hidden = number(s.model->shape.hidden_size);
  const double row = number(s.batch) * number(s.sequence) / number(p.context) * hidden * 2;
  const auto bandwidth = [&](Size together) {
    return link * machine.card_link(static_cast<std::size_t>(together)).value();
  };
  double seconds = 0;
  if (p.tensor > 1)  // two sums over cards a layer there, two back; a sum moves twice
    seconds += w.layers * (4 + 2 * again) * 2 * share_of_ring(number(p.tensor)) * row /
               bandwidth(p.tensor);
  if (p.experts > 1)  // to the experts and back
    seconds += (4 + 2 * again) * share_of_ring(number(p.experts)) * 2 * w.routed /
               bandwidth(p.experts * p.tensor);
  if (p.stages > 1) seconds += 2 * number(p.chunks) * row / number(p.tensor) / bandwidth(p.cards());
  return seconds;
}

/// Bytes that a card exchanges with those that hold the same share: of a pass, and of a step.
struct Volume {
  double pass = 0, step = 0;
};
Volume volume_of(const TrainingScenario& s, const StageShape& here, const TrainingEstimate& e) {
  const double ring = share_of_ring(number(s.parallel.alike()));
  const double all = number(here.elements.total());
  const double trained = s.adapter != nullptr ? number(e.trained) / number(s.parallel.tensor) : all;
  const double gradient = 2 * trained;
  if (s.zero >= 3) {
    const double gathered = s.adapter != nullptr ? number(here.base.total()) : 2 * all;
    const bool twice = true;  // forward and backward
    return {ring * ((twice ? 2 : 1) * gathered + gradient), 0};
  }
  return {0, ring * 2 * gradient};
}

double optimizer_seconds(const TrainingScenario& s, const TrainingEstimate& e,
                         const Machine& machine) {
  const double trained = number(e.gradients) + 2 * number(e.master) + 2 * number(e.states) +
                         (s.adapter != nullptr ? 0 : 2 * number(e.weights));
  const double card = machine.devices.front().bandwidth.value();
  if (!s.optimizer_on_host) return trained / card;
  const double bus = machine.host_bus(0).value();
  const double cards = number(s.parallel.cards());
  const double ram = machine.host.ram_bandwidth.value();
  // Gradients down and weights up; states, gradients and fp32 weights are read and written there.
  double seconds = bus > 0 ? 4 * number(e.gradients) / 2 / bus : 0;
  if (ram > 0) seconds += 2 * number(e.host) * cards / ram;
  if (s.on_disk && machine.host.disk_read.value() > 0)
    seconds += 2 * number(e.disk) * cards / machine.host.disk_read.value();
  return seconds;
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

StepTime time_of_step(const TrainingScenario& s, const StepShape& shape, const TrainingEstimate& e,
                      const Machine& machine, const TrainingPace& pace) {
  const Parallelism& p = s.parallel;
  const Device& card = machine.devices.front();
  const bool fp32 = s.recipe->parameters == Held::fp32 && !s.recipe->autocast;
  const double peak = card.peak(fp32 ? Arithmetic::fp32 : Arithmetic::bf16).value();
  const double bandwidth = card.bandwidth.value();
  const double passes = number(s.accumulated);
  const auto [again, attention_again] = again_of(s);
  const double back = s.adapter != nullptr ? 1 : 2;
  const double times = 1 + back + again;

  // The slowest stage sets the pace; the last one has the head.
  StepTime slowest;
  double of_passes = 0;
  Size slow = 0;
  for (const Size stage : {Size{0}, p.stages - 1}) {
    const Work w = work_of(s, stage);
    const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
    TrainingScenario kept_all = s;
    kept_all.recomputation = Recomputation::none;
    const Kept kept = kept_by_pass(kept_all, shape, stage);
    StepTime t;
    t.matrices = passes * w.matrix * times / (peak * pace.compute.value);
    t.attention = passes * w.attention * (1 + attention_backward + attention_again) /
                  (peak * pace.attention.value);
    const LossBytes loss =
        stage_of(s, stage).has_head && !s.fused_loss ? loss_bytes(s, shape.saved) : LossBytes{};
    t.traffic = passes *
                ((kept.attention + kept.feed_forward) * (1 + again / 3) * pace.traffic.value +
                 2 * loss.backward_start) /
                bandwidth;
    const double weights =
        s.adapter != nullptr ? number(here.base.total()) : 2 * number(here.elements.total());
    t.weights = passes * times * weights / bandwidth;
    if (s.base != nullptr)
      t.weights += passes * times * unpacked_bytes * number(here.elements.total()) / bandwidth;
    const double busy = t.matrices + t.attention + t.traffic + t.weights;
    t.launches = std::max(0.0, passes * w.layers * pace.layer_s.value * times / 3 - busy);
    if (busy + t.launches < of_passes) continue;
    of_passes = busy + t.launches;
    slowest = t;
    slow = stage;
  }
  const Work w = work_of(s, slow);
  StepTime& t = slowest;
  const double inside = passes * exchange_of_pass(s, w, machine, pace.link.value, again);
  t.bubble = (of_passes + inside) * number(p.stages - 1) / (passes * number(p.chunks));
  const Volume volume = volume_of(s, shape.stages[static_cast<std::size_t>(slow)], e);
  const double link =
      pace.link.value * machine.card_link(static_cast<std::size_t>(p.cards())).value();
  double apart = p.alike() > 1 && link > 0 ? (passes * volume.pass + volume.step) / link : 0;
  // What is sent once a step hides behind the backward of its last pass alone.
  const double cover = pace.hidden.value * of_passes * (s.zero >= 3 ? 1 : 0.6 / passes);
  apart = std::max(0.0, apart - cover);
  t.exchange = inside + apart;
  t.optimizer = optimizer_seconds(s, e, machine);
  t.total = of_passes + t.bubble + t.exchange + t.optimizer;
  const double tokens = number(s.batch) * number(s.sequence) * passes * number(p.replicas);
  t.tokens_s = tokens / t.total;
  const Model& m = *s.model;
  const auto layers = static_cast<Size>(m.profile.layers.size());
  const double useful =
      tokens *
      (2 * (m.profile.multiplied_before.back() + number(m.profile.head_elements)) * (1 + back) +
       attention_flops(m, 0, layers, number(s.sequence)) * 3);
  t.utilization = useful / (t.total * peak * number(p.cards()));
  const auto parts = parts_of(t);
  t.bound =
      std::ranges::max_element(parts, {}, [](const auto& part) { return part.second; })->first;
  return t;
}

void put_time(Estimate& outcome, const StepTime& time) {
  outcome.step.time = Seconds(time.total);
  outcome.step.utilization = time.utilization;
  outcome.tokens_s = time.tokens_s;
}

}  // namespace headroom::model
