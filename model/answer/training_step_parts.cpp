#include "model/answer/training_step_parts.hpp"

#include <fmt/format.h>

#include <utility>

namespace headroom::model {
namespace {

/// How spans of an operation are called, in the order of StepOperation.
struct OperationRow {
  std::string_view phase;  ///< empty: forward, backward and recomputation each have a part
  std::string_view what;
  Bound bound;
  std::string_view over{};  ///< memory that optimizers read and write; empty: the card's
};
constexpr OperationRow operation_rows[] = {
    {"", "matrices of layers", Bound::compute},
    {"", "matrices of experts", Bound::compute},
    {"", "output", Bound::compute},
    {"", "attention", Bound::compute},
    {"", "activations", Bound::memory},
    {"", "logits", Bound::memory},
    {"", "weights", Bound::memory},
    {"", "launches beyond the kernels", Bound::overhead},
    {"collectives", "sums of divided matrices", Bound::link},
    {"collectives", "tokens to experts and back", Bound::link},
    {"collectives", "activations between stages", Bound::link},
    {"collectives", "keys and values around the ring", Bound::link},
    {"collectives", "weights gathered", Bound::link},
    {"collectives", "gradients reduced", Bound::link},
    {"collectives", "start of each", Bound::link},
    {"pipeline", "bubbles", Bound::overhead},
    {"optimizer", "states, weights and gradients", Bound::memory},
    {"optimizer", "gradients down, weights up", Bound::link, "the host's bus"},
    {"optimizer", "states, weights and gradients in RAM", Bound::memory, "RAM, all cards' shares"},
    {"optimizer", "states to disk and back", Bound::link, "disk, all cards' shares"},
};
static_assert(std::size(operation_rows) == step_operations);

const OperationRow& row_of(const StepSpan& span) {
  return operation_rows[static_cast<std::size_t>(span.operation)];
}

std::string share_of(double reached, double peak, double unit, std::string_view name) {
  return fmt::format("{:.2f} of {:.4g} {}", reached / peak, peak / unit, name);
}

std::string_view name_of(StepPhase phase) {
  constexpr std::string_view names[] = {"forward", "backward", "recomputation"};
  return names[static_cast<std::size_t>(phase)];
}

class StepParts {
 public:
  StepParts(const TrainingScenario& s, const Machine& machine, const StepTimeline& time)
      : s_(s), card_(machine.devices.front()), time_(time) {}

  std::vector<StepPart> all() {
    for (const StepPhase phase : step_phases)
      for (const StepSpan& span : time_.spans)
        if (row_of(span).phase.empty()) add_phase(span, phase);
    for (const StepSpan& span : time_.spans)
      if (!row_of(span).phase.empty()) add_wait(span);
    return std::move(parts_);
  }

 private:
  void add(StepPart part) {
    if (part.seconds > Seconds() || part.hidden > Seconds()) parts_.push_back(std::move(part));
  }

  /// The share of `span` that falls into `phase`.
  void add_phase(const StepSpan& span, StepPhase phase) {
    StepPart part = part_of(span, name_of(phase));
    part.flops = span.times * span.flops.in(phase);
    part.bytes = span.times * span.moves * span.bytes.in(phase);
    if (part.bound == Bound::overhead) {
      const double kernels = span.kernels.sum();
      if (kernels > 0) part.seconds = span.seconds * span.kernels.in(phase) / kernels;
    } else if (part.bound == Bound::memory) {
      part.seconds = part.bytes / span.bytes_s;
    } else if (part.flops > Flops()) {
      part.seconds = part.flops / span.flops_s;
    }
    add(std::move(part));
  }

  void add_wait(const StepSpan& span) {
    StepPart part = part_of(span, row_of(span).phase);
    const RealBytes moved = span.times * span.moved;
    (part.bound == Bound::memory ? part.bytes : part.sent) = moved;
    const SpanSeconds seconds = time_.seconds_of(span);
    part.seconds = seconds.counted;
    part.hidden = seconds.hidden;
    add(std::move(part));
  }

  StepPart part_of(const StepSpan& span, std::string_view phase) const {
    const OperationRow& row = row_of(span);
    return {.phase = phase, .what = row.what, .bound = row.bound, .rate = rate_of(span)};
  }

  std::string rate_of(const StepSpan& span) const {
    if (span.operation == StepOperation::launches) return "host";
    if (span.operation == StepOperation::ring_latency) return "latency of rings";
    if (span.operation == StepOperation::bubbles)
      return fmt::format("{} stages, {} passes", s_.parallel.stages, s_.accumulated);
    if (row_of(span).bound == Bound::compute)
      return share_of(span.flops_s.value(), span.peak.value(), 1e12, "TFLOPS");
    if (group_of(span.operation) == StepGroup::exchange) {
      const double full = (span.moved / span.seconds).value();
      return share_of(time_.link * full, full, 1e9, "GB/s between cards");
    }
    const std::string_view over = row_of(span).over;
    return fmt::format("{:.4g} GB/s of {}", span.bytes_s.value() / 1e9,
                       over.empty() ? card_.name : over);
  }

  const TrainingScenario& s_;
  const Device& card_;
  const StepTimeline& time_;
  std::vector<StepPart> parts_;
};

}  // namespace

std::vector<StepPart> step_parts(const TrainingScenario& s, const Machine& machine,
                                 const StepTimeline& time) {
  return StepParts(s, machine, time).all();
}

}  // namespace headroom::model
