#include "model/train/outcome.hpp"

#include <algorithm>
#include <limits>

#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {
namespace {

constexpr Seconds unknown_time{std::numeric_limits<double>::infinity()};

Estimate step_of(Reason reason) {
  Estimate e;
  e.task = Task::training;
  e.reason = reason;
  e.load = e.ttft = e.tpot = e.total = e.step.time = unknown_time;
  return e;
}

/// Confidence that the expected peak fits in `capacity`: it is sure if both ends of the interval
/// agree.
Confidence sure_of(const TrainingScenario& s, const TrainingEstimate& e, Bytes capacity) {
  const bool low = e.peak_low <= capacity, high = e.peak_high <= capacity;
  if (low != high || is_doubtful(*s.model)) return Confidence::marginal;
  return high ? Confidence::yes : Confidence::no;
}

}  // namespace

Bytes smallest_card(const Machine& machine) {
  if (machine.devices.empty()) return Bytes(0);
  return usable_memory(*std::ranges::min_element(machine.devices, {}, usable_memory));
}

Estimate refused_step(Reason reason) { return step_of(reason); }

Estimate row_of(const TrainingEstimate& t) {
  Estimate e = step_of(Reason::none);
  e.weights = t.weights;
  e.activations = t.activations;
  e.overhead = t.context + t.fragmentation;
  e.gpu_bytes = t.peak;
  e.gpu_uncertain = t.peak - t.certain();
  e.gpu_bytes_low = t.peak_low;
  e.gpu_bytes_high = t.peak_high;
  e.cpu_bytes = t.host;
  e.disk_bytes = t.disk;
  e.step = {.master = t.master,
            .gradients = t.gradients,
            .states = t.states,
            .loss = t.loss,
            .working = t.transient + t.recomputed,
            .exchanged = t.gathered + t.scratch,
            .stepping = t.step,
            .moment = static_cast<std::uint8_t>(t.moment),
            .gradients_alive = t.gradients_alive,
            .time = unknown_time,
            .utilization = 0};
  return e;
}

Estimate outcome_of(const TrainingScenario& s, const TrainingEstimate& t, const Machine& machine) {
  if (machine.devices.empty()) return step_of(Reason::no_gpu);
  const Size cards = s.parallel.cards();
  if (cards > static_cast<Size>(machine.devices.size())) return step_of(Reason::not_enough_gpus);
  if (s.matrices != nullptr && !multiplies(machine.devices.front(), *s.matrices))
    return step_of(Reason::precision_unsupported);
  Estimate e = row_of(t);
  e.gpus_used = static_cast<std::uint16_t>(cards);
  e.layers_gpu = counted_layers(*s.model).size();
  e.cpu_bytes = cards * t.host;
  e.disk_bytes = cards * t.disk;
  const Bytes card = smallest_card(machine);
  e.sure = sure_of(s, t, card);
  const auto short_of = [&](Reason reason, Bytes needed, Bytes there) {
    e.verdict = Verdict::does_not_fit;
    e.reason = reason;
    e.short_bytes = needed - there;
    return e;
  };
  if (t.peak > card) return short_of(Reason::gpu_memory, t.peak, card);
  if (const Bytes ram = ram_beside(machine, cards, t.peak); e.cpu_bytes > ram)
    return short_of(Reason::ram, e.cpu_bytes, ram);
  if (e.disk_bytes > machine.host.disk)
    return short_of(Reason::disk, e.disk_bytes, machine.host.disk);
  e.verdict = t.disk > Bytes(0)   ? Verdict::fits_disk_offload
              : t.host > Bytes(0) ? Verdict::fits_cpu_offload
              : cards == 1        ? Verdict::fits_one_gpu
                                  : Verdict::fits_gpus;
  return e;
}

Bytes ram_beside(const Machine& machine, Size cards, Bytes on_card) {
  const Bytes ram = machine.host.ram;
  return machine.has_unified_memory() ? std::max(Bytes(0), ram - cards * on_card) : ram;
}

}  // namespace headroom::model
