#include "model/answer/training_step_parts.hpp"

#include <fmt/format.h>

#include "model/train/step_work.hpp"

namespace headroom::model {
namespace {

std::string share_of(double reached, double peak, double unit, std::string_view name) {
  return fmt::format("{:.2f} of {:.4g} {}", reached / peak, peak / unit, name);
}
std::string tflops(double reached, double peak) { return share_of(reached, peak, 1e12, "TFLOPS"); }
std::string bandwidth(double bytes_s, std::string_view of) {
  return fmt::format("{:.4g} GB/s of {}", bytes_s / 1e9, of);
}

class StepParts {
 public:
  StepParts(const TrainingScenario& s, const Device& card, const StepWork& work)
      : s_(s), card_(card), work_(work), w_(work.pass), r_(work.rates), t_(work.time) {}

  std::vector<StepPart> all() {
    of_passes("forward", &Phases::forward);
    of_passes("backward", &Phases::backward);
    of_passes("recomputation", &Phases::again);
    collectives();
    if (t_.bubble > 0)
      add({.phase = "pipeline",
           .what = "bubbles",
           .seconds = t_.bubble,
           .bound = Bound::overhead,
           .rate = fmt::format("{} stages, {} passes", s_.parallel.stages, s_.accumulated)});
    optimizer();
    return std::move(parts_);
  }

 private:
  void add(StepPart part) {
    if (part.seconds > 0 || part.hidden > 0) parts_.push_back(std::move(part));
  }

  void of_passes(std::string_view phase, double Phases::*of) {
    const auto multiplied = [&](std::string_view what, const Phases& flops, double rate,
                                double peak) {
      const double n = work_.passes * flops.*of;
      add({.phase = phase,
           .what = what,
           .flops = n,
           .seconds = n > 0 ? n / rate : 0,
           .bound = Bound::compute,
           .rate = tflops(rate, peak)});
    };
    const auto moved = [&](std::string_view what, const Phases& bytes, double times) {
      const double n = work_.passes * times * bytes.*of;
      add({.phase = phase,
           .what = what,
           .bytes = n,
           .seconds = n / r_.bandwidth,
           .rate = bandwidth(r_.bandwidth, card_.name)});
    };
    const bool fp32 = s_.recipe->parameters == Held::fp32 && !s_.recipe->autocast;
    const double peak = card_.peak(fp32 ? Arithmetic::fp32 : Arithmetic::bf16).value();
    multiplied("matrices of layers", w_.matrices, r_.matrices,
               s_.matrices != nullptr ? card_.peak(s_.matrices->arithmetic).value() : peak);
    multiplied("matrices of experts", w_.experts, r_.experts,
               s_.matrices != nullptr ? card_.peak(s_.matrices->arithmetic).value() : peak);
    multiplied("output", w_.head, r_.head, peak);
    multiplied("attention", w_.attention, r_.attention, peak);
    moved("activations", w_.made, work_.moves);
    moved("logits", w_.logits, 1);
    moved("weights", w_.weights, 1);
    const double kernels = w_.dense_kernels.sum();
    if (kernels > 0)
      add({.phase = phase,
           .what = "launches beyond the kernels",
           .seconds = t_.launches * (w_.dense_kernels.*of) / kernels,
           .bound = Bound::overhead,
           .rate = "host"});
  }

  void collectives() {
    const Exchange& x = work_.exchange;
    const double n = work_.passes;
    sent("sums of divided matrices", n * x.matrices, 1);
    sent("tokens to experts and back", n * x.experts, 1);
    sent("activations between stages", n * x.stages, 1);
    sent("keys and values around the ring", n * x.keys, work_.shown_of_keys);
    sent("weights gathered", n * x.gathered + x.weights, work_.shown);
    sent("gradients reduced", n * x.reduced + x.gradients, work_.shown);
    const double latency = n * x.latency;
    add({.phase = "collectives",
         .what = "start of each",
         .seconds = latency * work_.shown,
         .hidden = latency * (1 - work_.shown),
         .bound = Bound::link,
         .rate = "latency of rings"});
  }
  void sent(std::string_view what, Sent all, double shown) {
    if (all.seconds <= 0) return;
    const double seconds = all.seconds / work_.link, rate = all.bytes / all.seconds;
    add({.phase = "collectives",
         .what = what,
         .sent = all.bytes,
         .seconds = seconds * shown,
         .hidden = seconds * (1 - shown),
         .bound = Bound::link,
         .rate = share_of(work_.link * rate, rate, 1e9, "GB/s between cards")});
  }

  void optimizer() {
    const OptimizerWork& o = work_.optimizer;
    const auto part = [&](std::string_view what, const Carriage& each, std::string_view over,
                          Bound bound) {
      const bool memory = bound == Bound::memory;
      add({.phase = "optimizer",
           .what = what,
           .bytes = memory ? each.bytes : 0,
           .sent = memory ? 0 : each.bytes,
           .seconds = each.seconds(),
           .bound = bound,
           .rate = bandwidth(each.bytes_s, over)});
    };
    part("states, weights and gradients", o.card, card_.name, Bound::memory);
    part("gradients down, weights up", o.bus, "the host's bus", Bound::link);
    part("states, weights and gradients in RAM", o.ram, "RAM, all cards' shares", Bound::memory);
    part("states to disk and back", o.disk, "disk, all cards' shares", Bound::link);
  }

  const TrainingScenario& s_;
  const Device& card_;
  const StepWork& work_;
  const PassWork& w_;
  const PassRates& r_;
  const StepTime& t_;
  std::vector<StepPart> parts_;
};

}  // namespace

std::vector<StepPart> step_parts(const TrainingScenario& s, const StepShape& shape,
                                 const TrainingEstimate& memory, const Machine& machine,
                                 const TrainingPace& pace) {
  const StepWork work = work_of_step(s, shape, memory, machine, pace);
  return StepParts(s, machine.devices.front(), work).all();
}

}  // namespace headroom::model
