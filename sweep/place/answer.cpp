#include "sweep/place/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/answer/placement/best_placement.hpp"
#include "model/answer/placement/parallel_splits.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/passes.hpp"
#include "report/knee.hpp"
#include "report/words.hpp"
#include "sweep/curve/curve.hpp"
#include "sweep/launch/llama_cpp_flags.hpp"
#include "sweep/options/way_options.hpp"
#include "sweep/place/place.hpp"
#include "sweep/screen/fewer_note.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

/// Output tokens a second; of an encoder, prompts a second.
double speed(const Estimate& e) {
  return e.tokens_s > 0 ? e.tokens_s : e.ttft.value() > 0 ? 1.0 / e.ttft.value() : 0;
}

Order order_of(std::string name, const Scenario& s, const Assignment* assignment) {
  Order order{std::move(name), {}, {}};
  if (assignment == nullptr) return order;
  Scenario assigned = s;
  assigned.assignment = assignment;
  const Explanation explained = explain(assigned, WithAdvice::no);
  order.layers = layers_line(explained);
  order.estimate = explained.estimate;
  return order;
}

/// llama.cpp's flags for a placement. Empty if they cannot express it: one card must have the
/// output and all layers, except for experts.
std::string llama_cpp_flags(const Scenario& s, const Assignment& a) {
  const auto on_card = [](const std::vector<Spot>& spots) {
    return std::ranges::all_of(spots, [](Spot spot) { return spot == 0; });
  };
  if (s.runtime->offload.mode != Offload::compute || card_count(s) != 1 || a.head != 0 ||
      !on_card(a.layer))
    return {};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < a.experts.size(); ++i) {
    if (a.experts[i] == on_disk) return {};
    if (a.experts[i] == on_cpu)
      kept.push_back(
          std::to_string(static_cast<Size>(i) - s.weights->model->profile.first_decoding));
  }
  std::string flags = fmt::format("--gpu-layers {}", counted_layers(*s.weights->model).size() + 1);
  if (!kept.empty()) flags += fmt::format(" --override-tensor '{}'", experts_to_cpu(kept));
  return flags;
}

/// The best placement as a further strategy, compared with the engines' orders.
void add_best(Answer& answer, const Scenario& s, const MapOptions& options) {
  const auto best = best_placement(s);
  if (!best) return;
  // A map gives a tensor one place. The engine's own plan may leave a part of one in its file.
  if (const Plan own = place(s, 1.0);
      own.kept_on_disk > Bytes(0) && Seconds(step(s, own).total) < best->placed.step)
    return;
  const auto made = as_map(s, answer.tree, options);
  const auto first = in_order(s, model::Order::first_layers);
  const auto last = in_order(s, model::Order::last_layers);
  const auto assignment = [](const auto& placed) { return placed ? &placed->assignment : nullptr; };
  answer.orders.push_back(made ? order_of("accelerate's map", s, &made->assignment)
                               : order_of("first layers on the cards", s, assignment(first)));
  if (const Plan plan = place(s, 1.0);
      s.runtime->offload.mode == Offload::compute && plan.feasible()) {
    const Assignment own = assignment_of(plan);
    answer.orders.push_back(order_of(fmt::format("{}'s own", s.runtime->name), s, &own));
  } else {
    answer.orders.push_back(order_of("last layers on the cards", s, assignment(last)));
  }
  answer.orders.push_back(order_of("best", s, &best->placed.assignment));
  answer.best_note =
      best->exact
          ? "exact: all placements of these layers were compared"
          : fmt::format("at most {:.1f} % slower than the best possible placement (a bound)",
                        100 * (best->placed.step / best->bound - 1));

  Strategy strategy{.name = "best",
                    .meaning = "full budgets, each layer in its best place",
                    .scenario = s,
                    .mapped = std::make_shared<Mapped>(),
                    .explained = {},
                    .feasible = true,
                    .needed = {}};
  strategy.mapped->assignment = best->placed.assignment;
  // A placement equal to the runtime's order has its confidence.
  if (!(best->placed.assignment == assignment_of(place(s, 1.0))))
    strategy.scenario.assignment = &strategy.mapped->assignment;
  strategy.mapped->memory = weights_share(strategy.scenario, place(strategy.scenario, 1.0));
  strategy.mapped->map = device_map_of(answer.tree, *answer.given.model, best->placed.assignment);
  strategy.mapped->written = false;
  strategy.explained = explain(strategy.scenario, WithAdvice::no);
  answer.strategies.push_back(std::move(strategy));
  answer.best_flags = llama_cpp_flags(s, best->placed.assignment);
}

/// The first strategy with the largest budget of those for which `counts` holds.
template <class Counts>
std::vector<Strategy>::iterator largest_of(std::vector<Strategy>& all, Counts counts) {
  auto largest = all.end();
  for (auto each = all.begin(); each != all.end(); ++each)
    if (counts(*each) &&
        (largest == all.end() || each->scenario.gpu_budget > largest->scenario.gpu_budget))
      largest = each;
  return largest;
}

/// The strategy that has the memory which `headroom curve` recommends. It stands before the first
/// that may take as much.
void add_economical(Answer& answer, const Scenario& s, Policy policy, const MapOptions& options) {
  if (s.machine->devices.empty() || !s.weights->model->writes()) return;
  const CurveLine line = curve_line(s, {}, std::nullopt);
  if (!line.recommended) return;
  const Bytes budget = line.points[*line.recommended].allocation;
  Strategy strategy = strategy_within(budget, "economical", "the least that `curve` recommends", s,
                                      answer.tree, policy, options);
  if (!strategy.feasible) return;
  const Estimate& e = strategy.explained.estimate;
  const auto is_same = [&](const Strategy& each) {
    return each.feasible && each.explained.estimate.gpu_bytes == e.gpu_bytes &&
           each.explained.estimate.tokens_s == e.tokens_s;
  };
  // With as much in use, one that has more left free is safer.
  auto place = std::ranges::find_if(answer.strategies, [&](const Strategy& each) {
    return is_same(each) && each.explained.estimate.sure == Confidence::yes;
  });
  if (place == answer.strategies.end()) place = largest_of(answer.strategies, is_same);
  if (place == answer.strategies.end()) {
    place = std::ranges::find_if(answer.strategies, [&](const Strategy& each) {
      return each.feasible && each.scenario.gpu_budget >= budget;
    });
    place = answer.strategies.insert(place, std::move(strategy));
  }
  answer.chosen = static_cast<std::size_t>(place - answer.strategies.begin());
  answer.reason = line.reason;
}

/// Without a curve: the least GPU memory that comes within the knee of the best speed. Strategies
/// that are sure to fit come first. `all`: with all memory.
void recommend(Answer& answer, const Scenario& all) {
  answer.chosen = answer.strategies.size();
  answer.reason = "no strategy runs here";
  double best = 0;
  for (const Strategy& s : answer.strategies)
    if (s.feasible) best = std::max(best, speed(s.explained.estimate));
  const auto budget = [](const Strategy& s) { return s.scenario.gpu_budget; };
  const auto quick = [&](const Strategy& s) {
    return s.feasible && speed(s.explained.estimate) >= report::knee_share * best;
  };
  const auto sure = [](const Strategy& s) {
    return s.explained.estimate.sure == model::Confidence::yes;
  };
  const bool any_sure = std::ranges::any_of(answer.strategies,
                                            [&](const Strategy& s) { return quick(s) && sure(s); });
  for (std::size_t i = 0; i < answer.strategies.size(); ++i) {
    const Strategy& s = answer.strategies[i];
    if (!quick(s) || (any_sure && !sure(s))) continue;
    if (answer.chosen == answer.strategies.size() ||
        budget(s) < budget(answer.strategies[answer.chosen]))
      answer.chosen = i;
  }
  if (answer.chosen == answer.strategies.size()) {
    if (evaluate(all).reason != Reason::none) answer.reason += "; " + refusal_text(all);
    return;
  }
  const double reached = speed(answer.strategies[answer.chosen].explained.estimate) / best;
  answer.reason = fmt::format(
      "the least GPU memory with at least {:.0f} % of the best strategy's speed (it reaches {:.0f} "
      "%)",
      100 * report::knee_share, 100 * reached);
}

}  // namespace

Answer answer_of(const Options& options, const GivenScenario& given) {
  Scenario s = given.scenario;
  if (is_on_cpu_by_choice(options, s)) s.gpu_budget = unlimited;
  const MapOptions map = map_options(options, *given.model);
  Answer answer{.given = given,
                .tree = held_tree(*given.weights),
                .strategies = {},
                .orders = {},
                .contexts = {},
                .splits = {},
                .best_note = {},
                .best_flags = {},
                .least = least_gpu_memory(s, fits),
                .min_with_gpu = least_gpu_memory(s, uses_a_gpu),
                .reason = {},
                .notes = fewer_notes(options, given, evaluate(given.scenario))};
  answer.strategies = strategies(s, answer.tree, policy_of(options, "sequential"), map);
  Scenario all = s;
  all.gpu_budget = answer.strategies.back().scenario.gpu_budget;
  all.ram_budget = answer.strategies.back().scenario.ram_budget;
  add_best(answer, all, map);
  if (!s.machine->devices.empty() && s.runtime->offload.mode == Offload::compute)
    answer.contexts = layers_by_context(s);
  if (!s.machine->devices.empty() && s.runtime->parallel.split == Split::tensors)
    answer.splits = parallel_splits(given.scenario);
  recommend(answer, all);
  add_economical(answer, all, policy_of(options, "sequential"), map);
  if (!options.given("strategy")) return answer;
  std::vector<std::string_view> names;
  for (const Strategy& strategy : answer.strategies) names.push_back(strategy.name);
  const std::string wanted = options.one_of("strategy", names, "");
  answer.chosen = static_cast<std::size_t>(std::ranges::find(names, wanted) - names.begin());
  answer.reason = "as asked for";
  return answer;
}

std::string layers_line(const Explanation& explained) {
  std::string line;
  for (const DeviceUse& use : explained.devices)
    if (!use.layers.empty())
      line += fmt::format("{}{}: {}", line.empty() ? "" : "; ",
                          use.name.substr(0, use.name.find(':')), use.layers);
  return line;
}

std::string both_units(Bytes bytes) {
  return fmt::format("{} ({:.1f} GB)", to_text(bytes), bytes.real().value() / 1e9);
}

std::string needs(const Answer& answer, const Strategy& s) {
  const std::size_t cards = answer.given.machine->devices.size();
  if (s.needed == Bytes(0)) return std::string(report::reason_words(s.explained.estimate.reason));
  if (s.needed_of == Reason::ram) return "needs " + both_units(s.needed) + " of host memory";
  if (s.needed_of == Reason::disk) return "needs " + both_units(s.needed) + " of disk";
  return "needs " + both_units(s.needed) + " of GPU memory" +
         (cards > 1 ? fmt::format(" on each of {} cards", cards) : "");
}

std::string passed(const MaxMemory& memory) {
  std::string text;
  for (const DeviceMemory& device : memory) {
    if (device.device == "disk") continue;
    text += fmt::format("{}{}: \"{}MiB\"", text.empty() ? "" : ", ",
                        device.is_gpu() ? device.device : '"' + device.device + '"',
                        device.limit / 8 >> 20);
  }
  return '{' + text + '}';
}

}  // namespace headroom::sweep
