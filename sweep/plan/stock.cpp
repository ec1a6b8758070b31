#include "sweep/plan/stock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "sweep/hub/hub.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

void add_models(PlanStock& stock, const Question& asked, const std::vector<std::string>& operands,
                const Hub& hub) {
  std::vector<std::string> names = operands;
  if (asked.one_model && names.size() != 1)
    throw UsageError(fmt::format("plan {0}: one MODEL, found {1}; headroom plan {0} MODEL{2}",
                                 asked.name,
                                 names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                                 asked.priced ? "" : " MACHINE"));
  if (names.empty()) names = catalogue_models();
  for (Resolved& each : resolve_models(names, hub)) {
    if (each.failure) std::rethrow_exception(each.failure);
    const bool writes = each.model->writes();
    if (!writes && !operands.empty())
      throw UsageError(fmt::format(
          "plan {}: {} writes no tokens, so it has no users, contexts or rates of them; `headroom "
          "estimate {} --machine MACHINE --batch N` has its memory and its time for N prompts",
          asked.name, each.model->name, each.model->name));
    if (writes) stock.models.push_back(std::make_unique<model::Model>(std::move(*each.model)));
  }
}

void add_machine(PlanStock& stock, const std::string& text, const Catalogue& catalogue) {
  try {
    stock.machines.push_back(std::make_unique<Machine>(parse_machine(text, catalogue)));
  } catch (const std::invalid_argument& e) {
    throw UsageError(e.what());
  }
}

/// Machines with two cards, three and so on to `most` in the usual host of each number; the last of
/// these numbers.
int add_usual_counts(PlanStock& stock, const std::string& card, int most,
                     const Catalogue& catalogue) {
  for (int n = 2; n <= most; ++n) try {
      stock.machines.push_back(
          std::make_unique<Machine>(parse_machine(fmt::format("{}x {}", n, card), catalogue)));
    } catch (const std::invalid_argument&) {  // no usual host holds so many
      return n - 1;
    }
  return most;
}

/// Machines with one card, two and so on: as many as the host holds, or 64 of a cluster. Without a
/// host they have the usual one of each number.
void add_counts(PlanStock& stock, const Options& options, const Catalogue& catalogue) {
  if (!options.given("device") || options.given("count"))
    throw UsageError("plan fewest-gpus: give --device, without --count: the count is the answer");
  const auto refuse = [&](std::span<const std::string_view> figures, std::string_view of,
                          std::string_view named_by) {
    for (const auto flag : figures)
      if (options.given(flag))
        throw UsageError(
            fmt::format("--{} has no effect on plan fewest-gpus: describe the {} in a file for "
                        "--hardware, and name it with --{}",
                        flag, of, named_by));
  };
  refuse(figures_of_host, "host", "host");
  refuse(figures_of_card, "card", "device");
  const std::string host = options.given("host") ? " @ " + options.text("host") : std::string();
  const std::string card = options.text("device");
  add_machine(stock, fmt::format("1x {}{}", card, host), catalogue);
  const Host& box = stock.machines.back()->host;
  const bool one_box = box.cards > 0 && box.network == BytesPerSecond();
  constexpr int most = 64;
  if (host.empty()) {
    const int last = add_usual_counts(stock, card, most, catalogue);
    if (last < most)
      stock.assumed.push_back(fmt::format(
          "at most {} cards: no usual host of {} holds more; --host names one that does", last,
          card));
    return;
  }
  for (int n = 2; n <= (one_box ? box.cards : most); ++n)
    add_machine(stock, fmt::format("{}x {}{}", n, card, host), catalogue);
  if (one_box)
    stock.assumed.push_back(fmt::format(
        "at most {} cards: {} holds no more and has no network to another; --host names one that "
        "does",
        box.cards, box.name));
}

void add_machines(PlanStock& stock, const Options& options, const Question& asked,
                  const Catalogue& catalogue, const Prices* prices) {
  for (const auto& text : options.texts("machines")) add_machine(stock, text, catalogue);
  if (asked.counts_cards) return add_counts(stock, options, catalogue);
  if (auto given = machine_of(options)) {
    stock.machines.push_back(std::make_unique<Machine>(std::move(given->machine)));
    stock.assumed = std::move(given->assumed);
  }
  if (stock.machines.empty() && asked.priced)
    for (const auto& name : priced_machines(*prices)) add_machine(stock, name, catalogue);
  if (stock.machines.empty())
    throw UsageError(asked.priced
                         ? "which machines? give --machines, or price some in the prices file"
                         : "which machine? give --machine or --machines");
}

/// Lists of ways in one precision, in the order of the first way of each.
std::vector<std::vector<Way>> by_precision(std::vector<std::vector<Way>> lists) {
  std::vector<std::vector<Way>> all;
  for (auto& list : lists)
    for (Way& way : list) {
      auto found = std::ranges::find_if(all, [&](const std::vector<Way>& each) {
        return each.front().weights->scheme == way.weights->scheme;
      });
      if (found == all.end()) found = all.emplace(all.end());
      found->push_back(std::move(way));
    }
  return all;
}

/// The first reason why no way of any model holds on machine `m` of `machines`; empty where one
/// does.
std::string refused_by(const std::vector<std::vector<std::vector<Way>>>& ways, std::size_t m,
                       std::size_t machines) {
  std::string why = "no engine here runs the model";
  bool first = true;
  for (std::size_t i = m; i < ways.size(); i += machines)
    for (const auto& list : ways[i])
      for (const Way& way : list) {
        if (way.weights->refusal.empty()) return {};
        if (std::exchange(first, false)) why = way.weights->refusal;
      }
  return why;
}

/// The ways of each model on each machine, in this order whatever the number of threads.
void add_combinations(PlanStock& stock, const Question& asked, const AskedWay& way,
                      const Engines& engines, const model::Scenario& request,
                      OffloadedWays offload) {
  const bool finds_context = asked.vary == model::Vary::context;
  const std::size_t machines = stock.machines.size();
  // The ways of one machine are rows of an answer, those of several have a row for each machine.
  const bool each_precision =
      asked.ranks_precisions || finds_context || (asked.sequences != nullptr && machines == 1);
  const Narrower narrower = asked.spares || each_precision || asked.sequences != nullptr
                                ? Narrower::always
                                : Narrower::if_needed;
  std::vector<std::vector<std::vector<Way>>> ways(stock.models.size() * machines);
  tbb::parallel_for(std::size_t{0}, ways.size(), [&](std::size_t i) {
    const model::Model& model = *stock.models[i / machines];
    model::Scenario s = request;
    s.machine = stock.machines[i % machines].get();
    ways[i] = best_ways(way, engines, model, s, offload, narrower);
  });
  for (std::size_t m = 0; m < machines; ++m)
    if (const auto why = refused_by(ways, m, machines); !why.empty())
      stock.left_out.push_back(stock.machines[m]->name + ": " + why);
  if (each_precision)
    for (auto& lists : ways) lists = by_precision(std::move(lists));
  for (std::size_t i = 0; i < ways.size(); ++i)
    for (auto& list : ways[i]) {
      std::vector<Combination> held;
      for (Way& each : list) {
        if (!each.weights->refusal.empty()) continue;
        held.push_back({each.weights.get(), each.engine, stock.machines[i % machines].get(),
                        each.place, facts_of(each), below_four_bits(each) && !each.is_own(),
                        each.gpu_budget});
        stock.weights.push_back(std::move(each.weights));
      }
      if (!held.empty()) stock.combinations.push_back(std::move(held));
    }
  if (stock.combinations.empty())
    throw UsageError(fmt::format(
        "no way to run it is left: {}; --runtime takes another engine, --precision other "
        "weights",
        fmt::join(stock.left_out, "; ")));
}

}  // namespace

PlanStock stock_of(const Options& options, const Question& question,
                   const std::vector<std::string>& operands, const Engines& engines,
                   const model::Scenario& request, const model::Target& target,
                   const Catalogue& catalogue, const Prices* prices) {
  PlanStock stock;
  AskedWay way = asked_way(options, engines);
  add_machines(stock, options, question, catalogue, prices);
  for (const auto& machine : stock.machines) engines.measured(*machine);
  for (auto& line : engines.assumed(stock.machines.front().get()))
    stock.assumed.push_back(std::move(line));
  add_models(stock, question, operands, Hub(hub_flags(options)));
  stock.has_usual_context = way.has_usual_context;
  // Ways are compared at the context that a candidate has, and a usual one may not fit.
  if (!question.has_usual_context || has_load(target)) way.has_usual_context = false;
  stock.has_chosen_weights = way.precisions.empty();
  stock.has_chosen_ways =
      (!way.engine || way.precisions.empty()) &&
      std::ranges::any_of(stock.machines, [](const auto& each) { return has_makers(*each); });
  add_combinations(
      stock, question, way, engines, request,
      options.given("allow-offload") ? OffloadedWays::accepted : OffloadedWays::refused);
  return stock;
}

}  // namespace headroom::sweep
