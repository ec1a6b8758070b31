// The time of a training step as one list of spans, for the slowest card. The step's time, its
// groups, --explain, the table of parts and JSON all come from it.
#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <string_view>

#include "hardware/units.hpp"
#include "model/train/pass_work.hpp"

namespace headroom::model {

/// The operation of a span. A step has at most one span of each, in this order.
enum class StepOperation : std::uint8_t {
  matrices,     ///< matrices of layers, without experts
  experts,      ///< their matrices
  output,       ///< the head's matrix
  attention,    ///< scores and values
  activations,  ///< traffic of the layers' operations
  logits,
  weights,
  launches,           ///< kernel launches, beyond the time of the kernels
  tensor_sums,        ///< reductions over tensor-parallel cards
  expert_tokens,      ///< tokens to their experts and back
  stage_activations,  ///< activations to the next stage, and their gradients back
  ring_keys,          ///< keys and values around the ring
  gathered_weights,
  reduced_gradients,
  ring_latency,      ///< latency of the exchanges of a pass
  bubbles,           ///< idle stages during the first and last passes
  states_on_card,    ///< states, weights and gradients that the optimizer reads and writes
  gradients_on_bus,  ///< gradients to the host, weights back
  states_in_ram,
  states_on_disk,
};
inline constexpr std::size_t step_operations = 20;

/// Spans that count together: the parts of a step that a user sees.
enum class StepGroup : std::uint8_t {
  products,
  attention,
  traffic,  ///< activations and logits through memory
  weights,
  launches,
  bubbles,
  exchange,  ///< between cards
  optimizer,
};
inline constexpr std::size_t step_groups = 8;
std::string_view name_of(StepGroup group);
StepGroup group_of(StepOperation operation);

/// One operation or one wait. Products have FLOPs, traffic has bytes; both take their amount at
/// their rate. Other spans have seconds.
struct StepSpan {
  StepOperation operation{};
  double times = 1;                  ///< in a step: its passes, or 1
  Phases<Flops> flops{};             ///< FLOPs of one occurrence
  Phases<RealBytes> bytes{};         ///< bytes of one occurrence, through the card's memory
  Phases<double> kernels{};          ///< kernels of a pass, relative to those of a dense layer
  RealBytes moved{};                 ///< bytes of one occurrence: over links, bus or disk, or by
                                     ///< the optimizer
  double moves = 1;                  ///< how often each of `bytes` moves
  FlopsPerSecond flops_s{}, peak{};  ///< reached, and of the data sheet
  BytesPerSecond bytes_s{};          ///< rate of memory, bus or disk; 0: unknown
  Seconds seconds{};                 ///< time of one occurrence; over links at their full rate
};

/// All times of a span.
struct SpanSeconds {
  Seconds counted{};  ///< in the step's total
  Seconds hidden{};   ///< behind other spans, not in the total
};

class StepTimeline {
 public:
  /// An empty span, to be filled in place: a sweep adds millions of them.
  StepSpan& add(StepOperation operation, double times = 1) {
    StepSpan& span = spans.emplace_back();
    span.operation = operation;
    span.times = times;
    return span;
  }
  /// Adds a span that takes `seconds` of the step.
  StepSpan& add_counted(StepOperation operation, Seconds seconds);

  /// Counts products and traffic, which launches hide behind. Returns their seconds.
  Seconds count_passes();
  /// Counts the exchanges that nothing hides. Returns the seconds of those that passes wait for.
  Seconds count_exchanges();

  Seconds of(StepGroup group) const { return groups[static_cast<std::size_t>(group)]; }
  /// The card's own time, without exchanges, bubbles and the optimizer.
  Seconds of_passes() const;
  /// For the table of parts; a sweep does without.
  SpanSeconds seconds_of(const StepSpan& span) const;

  boost::container::static_vector<StepSpan, step_operations> spans;
  using Groups = std::array<Seconds, step_groups>;
  Groups groups{};  ///< sums so far; they add up to the step
  double passes = 1;
  double link = 1;  ///< share of link bandwidth that exchanges reach
  Seconds cover{};  ///< time of the passes that exchanges can hide behind
  Seconds total{};  ///< sum of the groups in their order

 private:
  Seconds& of(StepGroup group) { return groups[static_cast<std::size_t>(group)]; }
  /// Exchanges besides the passes, hidden or not: of weights and of gradients.
  Seconds beside() const;
  /// Keys and values of a pass, and the part of them that attention does not hide.
  Seconds keys() const;
  Seconds exposed_keys() const;
};

}  // namespace headroom::model
