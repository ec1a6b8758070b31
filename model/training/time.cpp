#include "model/training/time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/tape/tower.hpp"
#include "model/training/exchange.hpp"
#include "model/training/passes.hpp"

namespace headroom::model {
namespace {

constexpr double attention_backward = 2.5;  ///< of forward: five products for two

/// Bytes moved to unpack an element of a frozen 4-bit weight and to multiply with it. bitsandbytes:
/// one kernel reads half a byte and writes 2, which the product reads. AutoGPTQ in training: torch
/// operations, each with a result of its own (qlinear_cuda_old.py: shifted in 32 bit, converted,
/// masked, less its zero, scaled); 25 bytes are what the 12 steps of QwenLM/Qwen's table take.
double unpacked_bytes(const Weights& base) {
  return base.scheme->family == SchemeFamily::gptq ? 25 : 5;
}

double number(Size n) { return static_cast<double>(n); }
double number(Bytes n) { return static_cast<double>(n.count()); }

/// What one pass of one card is made of.
struct Work {
  double tokens = 0, layers = 0;
  double matrix = 0;     ///< FLOPs of forward, in layers
  double last = 0;       ///< of them, of the matrices that end a layer
  double head = 0;       ///< of the head's matrix
  double attention = 0;  ///< of attention's products
  double routed = 0;     ///< elements that tokens bring to experts, all layers
};

/// FLOPs of scores and values of one token, on average over a sequence, times two: 4 per dimension
/// of all heads and token looked at.
double attention_flops(const TrainingScenario& s, Size first, Size last) {
  const Model& m = *s.model;
  const double sequence = number(s.document > 0 ? std::min(s.document, s.sequence) : s.sequence);
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

/// FLOPs of one pass's matrices in layers [first, last): a tower multiplies patches, and none where
/// there are no images.
double matrix_flops(const TrainingScenario& s, std::size_t first, std::size_t last) {
  const auto& all = s.model->profile.multiplied_before;
  const double text = number(s.batch) * number(s.sequence) / number(s.parallel.context);
  const double patches = number(s.batch * s.images.count * s.images.patches);
  double flops = 0;
  for (std::size_t i = first; i < last; ++i)
    flops +=
        2 * (all[i + 1] - all[i]) * (in_a_tower(*s.model, static_cast<Size>(i)) ? patches : text);
  return flops;
}

/// Kernels that a stage launches, in those of a dense layer: 34 that torch launches for one of
/// Llama's (norms of 6, rotations of 10, 7 products, attention, gate, sums). A router with its
/// experts takes 30 more (probabilities, choice, counts, sorting there and back; Megatron-LM
/// core/transformer/moe, transformers integrations/moe.py), an adapter 6 beside each product
/// (conversion, dropout, two products, scale, sum; PEFT 0.21 tuners/lora/layer.py).
double kernels_of(const TrainingScenario& s, const Stage& stage) {
  constexpr double dense = 34, routed = 30, adapted = 6;
  const auto& layers = s.model->profile.layers;
  double kernels = 0;
  for (Size i = stage.first; i < stage.last; ++i)
    kernels += dense + (layers[static_cast<std::size_t>(i)].routing.used > 0 ? routed : 0);
  if (s.adapter != nullptr)
    kernels += adapted * number(static_cast<Size>(s.adapter->modules.size())) *
               number(stage.last - stage.first) / number(static_cast<Size>(layers.size()));
  return kernels / dense;
}

Work work_of(const TrainingScenario& s, const StepShape& shape, Size stage) {
  const Model& m = *s.model;
  const Stage here = stage_of(s, stage);
  const auto first = static_cast<std::size_t>(here.first),
             last = static_cast<std::size_t>(here.last);
  const double tensor = number(s.parallel.tensor);
  Work w;
  w.tokens = number(s.batch) * number(s.sequence) / number(s.parallel.context);
  w.layers = number(here.last - here.first);
  w.matrix = matrix_flops(s, first, last) / tensor;
  if (here.has_head && s.head_loss)
    w.head = 2 * w.tokens * number(m.profile.head_elements) / tensor;
  w.attention = w.tokens * attention_flops(s, here.first, here.last) / tensor;
  for (std::size_t i = first; i < last; ++i) {
    w.last += 2 * w.tokens * number(shape.saved.kinds[shape.saved.kind_of[i]].last_matrix) / tensor;
    w.routed += w.tokens * number(m.profile.layers[i].routing.used) * number(m.shape.hidden_size);
  }
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
  const double peak_of_layers =
      s.matrices != nullptr ? pace.narrow.value * card.peak(s.matrices->arithmetic).value() : peak;
  const double bandwidth = card.bandwidth.value();
  const double passes = number(s.accumulated);
  const auto [again, attention_again] = again_of(s);
  const double back = s.adapter != nullptr ? 1 : 2;
  const double times = 1 + back + again;
  const bool stops = s.runtime->stops_early && s.recomputation == Recomputation::full;

  // The slowest stage sets the pace; the last one has the head.
  StepTime slowest;
  double of_passes = 0;
  Size slow = 0, seen = -1;
  for (const Size stage : {Size{0}, p.stages / 2, p.stages - 1}) {
    if (std::exchange(seen, stage) == stage) continue;
    const Work w = work_of(s, shape, stage);
    const StageShape& here = shape.stages[static_cast<std::size_t>(stage)];
    TrainingScenario kept_all = s;
    kept_all.recomputation = Recomputation::none;
    const Kept kept = kept_by_pass(kept_all, shape, stage);
    StepTime t;
    const double in_layers = times * w.matrix - (stops ? w.last : 0);
    t.matrices =
        passes * (in_layers / peak_of_layers + (1 + back) * w.head / peak) / pace.compute.value;
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
      t.weights +=
          passes * times * unpacked_bytes(*s.base) * number(here.elements.total()) / bandwidth;
    const double busy = t.matrices + t.attention + t.traffic + t.weights;
    const double launched = pace.layer_s.value * kernels_of(s, stage_of(s, stage)) * times / 3;
    t.launches = std::max(0.0, passes * launched - busy);
    if (busy + t.launches <= of_passes) continue;
    of_passes = busy + t.launches;
    slowest = t;
    slow = stage;
  }
  const Work w = work_of(s, shape, slow);
  StepTime& t = slowest;
  const Exchange x = exchange_of(s, shape.stages[static_cast<std::size_t>(slow)], e,
                                 {w.tokens, w.layers, w.routed, again}, machine);
  const double inside = passes * x.inside / pace.link.value;
  t.bubble = (of_passes + inside) * number(p.stages - 1) / (passes * number(p.chunks));
  // What is sent once a step hides behind the backward of its last pass alone.
  const double cover = pace.hidden.value * of_passes * (s.zero >= 3 ? 1 : 0.6 / passes);
  const double apart =
      std::max(0.0, (passes * x.pass + x.step) / pace.link.value + passes * x.latency - cover);
  t.exchange = inside + apart;
  t.optimizer = optimizer_seconds(s, e, machine);
  t.total = of_passes + t.bubble + t.exchange + t.optimizer;
  const double tokens = number(s.batch) * number(s.sequence) * passes * number(p.replicas);
  t.tokens_s = tokens / t.total;
  const Model& m = *s.model;
  const auto layers = static_cast<Size>(m.profile.layers.size());
  const double matrices = matrix_flops(s, 0, static_cast<std::size_t>(layers)) * number(p.context) *
                          passes * number(p.replicas);
  const double useful =
      matrices * (1 + back) + tokens * (2 * number(m.profile.head_elements) * (1 + back) +
                                        attention_flops(s, 0, layers) * 3);
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
