#include "model/train/step_timeline.hpp"

#include <algorithm>
#include <span>

namespace headroom::model {
namespace {

/// Spans of passes come first. A step has all of them, in the order of StepOperation.
constexpr std::size_t of_a_pass = static_cast<std::size_t>(StepOperation::launches) + 1;

/// What follows them: exchanges, bubbles, the optimizer.
template <class Spans>
auto after_passes(Spans& spans) {
  const std::span all(spans.data(), spans.size());
  return all.subspan(std::min(of_a_pass, all.size()));
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

const StepSpan* StepTimeline::find(StepOperation operation) const {
  const auto place = static_cast<std::size_t>(operation);
  if (place < of_a_pass) return place < spans.size() ? &spans[place] : nullptr;
  for (const StepSpan& span : after_passes(spans))
    if (span.operation == operation) return &span;
  return nullptr;
}

Seconds StepTimeline::keys() const {
  const StepSpan* keys = find(StepOperation::ring_keys);
  return keys == nullptr ? Seconds() : keys->alone / link;
}

Seconds StepTimeline::exposed_keys() const {
  const StepSpan* attention = find(StepOperation::attention);
  return std::max(Seconds(), keys() - (attention == nullptr ? Seconds() : attention->alone));
}

Seconds StepTimeline::waited_for() const {
  Seconds once;
  for (const StepSpan& span : after_passes(spans))
    if (span.operation <= StepOperation::stage_activations) once += span.alone;
  return passes * (once / link + exposed_keys());
}

Seconds StepTimeline::beside() const {
  Seconds sent, started;
  double times = 1;
  for (const StepSpan& span : spans) switch (span.operation) {
      case StepOperation::gathered_weights:
      case StepOperation::reduced_gradients:
        sent += span.alone;
        times = span.times;
        break;
      case StepOperation::ring_latency:
        started = span.times * span.alone;
        break;
      default:
        break;
    }
  return times * sent / link + started;
}

Seconds StepTimeline::exposed() const { return std::max(Seconds(), beside() - cover); }

void StepTimeline::hide_exchanges() {
  const auto share = [](Seconds exposed, Seconds all) {
    return all > Seconds() ? exposed / all : 1;
  };
  const Seconds others = beside();
  const double of_keys = share(exposed_keys(), keys()),
               of_others = share(std::max(Seconds(), others - cover), others);
  for (StepSpan& span : after_passes(spans)) {
    if (group_of(span.operation) != StepGroup::exchange) continue;
    const bool latency = span.operation == StepOperation::ring_latency;
    const double shown = span.operation < StepOperation::ring_keys    ? 1
                         : span.operation == StepOperation::ring_keys ? of_keys
                                                                      : of_others;
    const Seconds all = span.times * span.alone / (latency ? 1 : link);
    span.seconds = all * shown;
    span.hidden = all * (1 - shown);
  }
}

// Amounts of all passes are added before they are divided by a rate that they share, so that a
// group's last digit does not depend on the phases and operations that its spans tell apart.
StepTimeline::Groups StepTimeline::without_exchange() const {
  Groups all{};
  const auto group = [&](StepGroup which) -> Seconds& {
    return all[static_cast<std::size_t>(which)];
  };
  const auto of = [&](StepOperation operation) -> const StepSpan& {
    return spans[static_cast<std::size_t>(operation)];
  };
  if (!spans.empty()) {
    using enum StepOperation;
    const StepSpan &made = of(activations), &loss = of(logits);
    group(StepGroup::products) =
        passes * (of(matrices).alone + of(experts).alone + of(output).alone);
    group(StepGroup::attention) = of(attention).seconds;
    group(StepGroup::traffic) =
        passes * (made.moves * made.bytes.sum() + loss.moves * loss.bytes.sum()) / made.bytes_s;
    group(StepGroup::weights) = of(weights).seconds;
    if (spans.size() >= of_a_pass) group(StepGroup::launches) = of(launches).seconds;
  }
  for (const StepSpan& span : after_passes(spans))
    if (const StepGroup which = group_of(span.operation); which != StepGroup::exchange)
      group(which) += span.seconds;
  return all;
}

StepTimeline::Groups StepTimeline::groups() const {
  Groups all = without_exchange();
  all[static_cast<std::size_t>(StepGroup::exchange)] = waited_for() + exposed();
  return all;
}

Seconds StepTimeline::of_passes() const {
  const Groups all = without_exchange();
  Seconds sum;
  for (const StepGroup group : {StepGroup::products, StepGroup::attention, StepGroup::traffic,
                                StepGroup::weights, StepGroup::launches})
    sum += all[static_cast<std::size_t>(group)];
  return sum;
}

}  // namespace headroom::model
