#include "model/train/step_timeline.hpp"

#include <algorithm>
#include <span>

namespace headroom::model {
namespace {

/// Spans of passes come first. A step has all of them, in the order of StepOperation.
constexpr std::size_t of_a_pass = static_cast<std::size_t>(StepOperation::launches) + 1;

/// The spans after the passes: exchanges, bubbles, the optimizer.
std::span<const StepSpan> after_passes(std::span<const StepSpan> all) {
  return all.subspan(of_a_pass);
}

}  // namespace

std::string_view name_of(StepGroup group) {
  constexpr std::string_view names[] = {
      "matrices", "attention",        "activations' traffic",   "weights' traffic",
      "launches", "pipeline bubbles", "exchange between cards", "the optimizer"};
  static_assert(std::size(names) == step_groups);
  return names[static_cast<std::size_t>(group)];
}

StepGroup group_of(StepOperation operation) {
  using enum StepOperation;
  if (operation <= output) return StepGroup::products;
  if (operation == attention) return StepGroup::attention;
  if (operation <= logits) return StepGroup::traffic;
  if (operation == weights) return StepGroup::weights;
  if (operation == launches) return StepGroup::launches;
  if (operation <= ring_latency) return StepGroup::exchange;
  return operation == bubbles ? StepGroup::bubbles : StepGroup::optimizer;
}

StepSpan& StepTimeline::add_counted(StepOperation operation, Seconds seconds) {
  StepSpan& span = add(operation);
  span.seconds = seconds;
  of(group_of(operation)) += seconds;
  return span;
}

// Amounts of all passes are added first, and then divided by their common rate. A group's last
// digit must not depend on how its spans divide phases and operations.
Seconds StepTimeline::count_passes() {
  using enum StepOperation;
  const auto span = [&](StepOperation operation) -> const StepSpan& {
    return spans[static_cast<std::size_t>(operation)];
  };
  const auto multiplied = [&](StepOperation operation) {
    return span(operation).flops.sum() / span(operation).flops_s;
  };
  const auto moved = [&](StepOperation operation) {
    return span(operation).moves * span(operation).bytes.sum();
  };
  const BytesPerSecond bandwidth = span(activations).bytes_s;
  of(StepGroup::products) =
      passes * (multiplied(matrices) + multiplied(experts) + multiplied(output));
  of(StepGroup::attention) = passes * span(attention).flops.sum() / span(attention).flops_s;
  of(StepGroup::traffic) = passes * (moved(activations) + moved(logits)) / bandwidth;
  of(StepGroup::weights) = passes * moved(weights) / bandwidth;
  return of_passes();
}

Seconds StepTimeline::of_passes() const {
  Seconds sum;
  for (const StepGroup group : {StepGroup::products, StepGroup::attention, StepGroup::traffic,
                                StepGroup::weights, StepGroup::launches})
    sum += of(group);
  return sum;
}

Seconds StepTimeline::count_exchanges() {
  Seconds once;
  for (const StepSpan& span : after_passes(spans))
    if (span.operation <= StepOperation::stage_activations) once += span.seconds;
  const Seconds waited_for = passes * (once / link + exposed_keys());
  of(StepGroup::exchange) = waited_for + std::max(Seconds(), beside() - cover);
  return waited_for;
}

Seconds StepTimeline::beside() const {
  Seconds sent, started;
  double times = 1;
  for (const StepSpan& span : after_passes(spans)) switch (span.operation) {
      case StepOperation::gathered_weights:
      case StepOperation::reduced_gradients:
        sent += span.seconds;
        times = span.times;
        break;
      case StepOperation::ring_latency:
        started = span.times * span.seconds;
        break;
      default:
        break;
    }
  return times * sent / link + started;
}

Seconds StepTimeline::keys() const {
  for (const StepSpan& span : after_passes(spans))
    if (span.operation == StepOperation::ring_keys) return span.seconds / link;
  return {};
}

Seconds StepTimeline::exposed_keys() const {
  const Seconds all = keys();
  if (all <= Seconds()) return all;
  const StepSpan& attention = spans[static_cast<std::size_t>(StepOperation::attention)];
  return std::max(Seconds(), all - attention.flops.sum() / attention.flops_s);
}

SpanSeconds StepTimeline::seconds_of(const StepSpan& span) const {
  using enum StepOperation;
  const Seconds all = span.times * span.seconds;
  if (group_of(span.operation) != StepGroup::exchange) return {all, {}};
  const auto share = [](Seconds exposed, Seconds all) {
    return all > Seconds() ? exposed / all : 1;
  };
  const double counted = span.operation < ring_keys ? 1
                         : span.operation == ring_keys
                             ? share(exposed_keys(), keys())
                             : share(std::max(Seconds(), beside() - cover), beside());
  const Seconds taken = all / (span.operation == ring_latency ? 1 : link);
  return {taken * counted, taken * (1 - counted)};
}

}  // namespace headroom::model
