#include "model/train/step_timeline.hpp"

#include <algorithm>

namespace headroom::model {

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
  const auto at = std::ranges::find(spans, operation, &StepSpan::operation);
  return at == spans.end() ? nullptr : &*at;
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
  for (const StepSpan& span : spans)
    if (span.operation >= StepOperation::tensor_sums &&
        span.operation <= StepOperation::stage_activations)
      once += span.alone;
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
  const double of_keys = share(exposed_keys(), keys()), of_others = share(exposed(), beside());
  for (StepSpan& span : spans) {
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
  Seconds products;
  RealBytes traffic;
  BytesPerSecond bandwidth(1);
  for (const StepSpan& span : spans) {
    const StepGroup group = group_of(span.operation);
    if (group == StepGroup::products) {
      products += span.alone;
    } else if (group == StepGroup::traffic) {
      traffic += span.moves * span.bytes.sum();
      bandwidth = span.bytes_s;
    } else if (group != StepGroup::exchange) {
      all[static_cast<std::size_t>(group)] += span.seconds;
    }
  }
  all[static_cast<std::size_t>(StepGroup::products)] = passes * products;
  all[static_cast<std::size_t>(StepGroup::traffic)] = passes * traffic / bandwidth;
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
