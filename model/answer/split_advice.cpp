#include "model/answer/split_advice.hpp"

#include <algorithm>
#include <optional>

#include "model/answer/placement/strategy.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {
namespace {

struct FittingSplit {
  Scenario scenario;
  Estimate estimate;
};

/// Every tensor-parallel and pipeline split of the machine that puts all on cards.
std::vector<FittingSplit> splits_that_fit(Scenario s) {
  std::vector<FittingSplit> all;
  const auto cards = static_cast<Size>(s.machine->devices.size());
  s.expert_parallel = s.data_parallel = 0;
  for (s.tensor_parallel = 1; s.tensor_parallel <= cards; ++s.tensor_parallel)
    for (s.pipeline_parallel = 1; s.pipeline_parallel <= cards / s.tensor_parallel;
         ++s.pipeline_parallel)
      if (const Estimate e = evaluate(s); is_on_gpus(e)) all.push_back({s, e});
  return all;
}

Advice advice_of(const FittingSplit& split) {
  return {.kind = Advice::Kind::split,
          .then = after_change(split.estimate),
          .tensor = split.scenario.tensor_parallel,
          .pipeline = split.scenario.pipeline_parallel};
}

/// The quickest a token, and the quickest of the fewest cards where that is another.
std::vector<Advice> best_splits(const Scenario& s) {
  const std::vector<FittingSplit> all = splits_that_fit(s);
  if (all.empty()) return {};
  const auto quickest = std::ranges::min_element(all, {}, [](const FittingSplit& each) {
    return std::pair(each.estimate.tpot.value(), each.estimate.gpus_used);
  });
  const auto fewest = std::ranges::min_element(all, {}, [](const FittingSplit& each) {
    return std::pair(each.estimate.gpus_used, each.estimate.tpot.value());
  });
  std::vector<Advice> best{advice_of(*quickest)};
  if (fewest->estimate.gpus_used < quickest->estimate.gpus_used) best.push_back(advice_of(*fewest));
  return best;
}

/// The cards of one of the machine's boxes.
std::optional<Advice> one_box(const Scenario& s) {
  const Host& host = s.machine->host;
  if (host.boxes < 2 || host.cards < 1) return std::nullopt;
  const MachineShare box = share_of(*s.machine, host.cards, host.boxes);
  Scenario single_box = s;
  single_box.machine = &box.machine;
  const Estimate e = evaluate(single_box);
  if (!is_on_gpus(e)) return std::nullopt;
  return Advice{.kind = Advice::Kind::one_box,
                .then = after_change(e),
                .amount = static_cast<Size>(host.cards)};
}

}  // namespace

bool is_of_split(Reason reason) {
  switch (reason) {
    case Reason::heads_not_divisible:
    case Reason::layers_not_divisible:
    case Reason::not_enough_gpus:
    case Reason::parallelism_unsupported:
    case Reason::widths_not_divisible:
    case Reason::groups_not_divisible:
    case Reason::vocabulary_not_divisible:
    case Reason::no_experts:
    case Reason::experts_span_replicas:
    case Reason::experts_divide_cards:
      return true;
    default:
      return false;
  }
}

std::vector<Advice> other_splits(const Scenario& asked) {
  Scenario s = asked;
  s.assignment = nullptr;
  if (s.runtime->parallel.split == Split::tensors) return best_splits(s);
  s.tensor_parallel = s.pipeline_parallel = s.expert_parallel = s.data_parallel = 0;
  std::vector<Advice> all;
  if (auto box = one_box(s))
    all.push_back(*box);
  else if (const Estimate e = evaluate(s); is_on_gpus(e))
    all.push_back({.kind = Advice::Kind::layers_over_cards, .then = after_change(e)});
  for (const Engine& other : engines()) {
    if (other.parallel.split != Split::tensors || other.name != other.family) continue;
    s.runtime = &other;
    s.layer_split = nullptr;
    const auto found = best_splits(s);
    if (found.empty()) continue;
    all.push_back(found.front());
    all.back().engine = other.name;
    break;
  }
  return all;
}

}  // namespace headroom::model
