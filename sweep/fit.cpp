#include "sweep/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "model/runtime_rows.hpp"
#include "sweep/constant_search.hpp"
#include "sweep/quantile.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::NamedConstant;
using model::Rates;
using model::Runtime;

constexpr int fewest_rows = 3;

class EngineFit {
 public:
  EngineFit(std::vector<Runtime> rows, std::vector<Subject> subjects)
      : search_(std::move(rows), std::move(subjects)) {}

  std::string lines() {
    solve(unknowns());
    for (const Unknown& each : solved_)
      if (each.constant->of_rates) emit(each);
    // The widths apart, then the cells: each starts at what the level above has found.
    for (const bool cells : {false, true}) {
      std::vector<Unknown> next = split(cells);
      solve(next);
      for (const Unknown& each : solved_)
        if (each.constant->of_rates || cells) emit(each);
    }
    emit_intervals();
    return text_;
  }

 private:
  std::vector<Unknown> unknowns() {
    std::vector<Unknown> all;
    for (const Bounds& bounds : constant_bounds())
      for (const NamedConstant& constant : model::named_constants()) {
        if (constant.name != bounds.name) continue;
        // An engine with one kernel for all experts has no such overhead.
        const bool none = constant.name == "expert_overhead_s" &&
                          search_.rows().front().expert_overhead_s.value == 0;
        if (none) continue;
        Unknown each{.constant = &constant, .low = bounds.low, .high = bounds.high, .rows = {}};
        each.rows = search_.affected(each);
        if (static_cast<int>(each.rows.size()) >= fewest_rows) all.push_back(std::move(each));
      }
    return all;
  }

  /// The unknowns of rates taken apart by width, or by card and width; the others as they are.
  std::vector<Unknown> split(bool cells) {
    std::vector<Unknown> all;
    for (const Unknown& whole : solved_) {
      if (whole.constant->of_runtime) {
        all.push_back(whole);
        continue;
      }
      for (std::size_t c = 0; c < (cells ? model::card_classes : 1); ++c)
        for (std::size_t w = 0; w < (cells ? 1 : model::widths); ++w) {
          Unknown part = whole;
          if (cells)
            part.cards = c;
          else
            part.width = w;
          part.common = search_.get(part);
          part.rows = search_.affected(part);
          if (static_cast<int>(part.rows.size()) >= fewest_rows) all.push_back(std::move(part));
        }
    }
    return all;
  }

  void solve(std::vector<Unknown> unknowns) {
    search_.solve(unknowns);
    solved_ = std::move(unknowns);
  }

  std::string sources(const std::vector<std::size_t>& rows) const {
    std::map<std::string, int> counts;
    for (const std::size_t i : rows) ++counts[short_source((*subjects()[i].row)["source"])];
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto& [name, n] : counts) sorted.emplace_back(-n, name);
    std::ranges::sort(sorted);
    std::string text;
    for (const auto& [n, name] : sorted) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// Ratios measured / expected of some rows.
  std::vector<double> ratios(const std::vector<std::size_t>& rows) {
    std::vector<double> all;
    for (const std::size_t i : rows)
      if (const auto expected = search_.expected(i))
        all.push_back(subjects()[i].measured / *expected);
    return all;
  }

  void line(std::string_view constant, std::size_t cards, std::size_t width, const Constant& c,
            const std::string& source) {
    text_ += fmt::format(
        "{}\t{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", search_.rows().front().name, constant,
        cards == any ? "any" : model::name_of(static_cast<model::CardClass>(cards)),
        width == any ? "any" : model::name_of(static_cast<model::Width>(width)), c.value, c.low,
        c.high, c.measurements, source);
  }

  void emit(const Unknown& unknown) {
    const double value = search_.get(unknown);
    const auto spread = ratios(unknown.rows);
    // A slower run than expected is a smaller share of a rate, a larger overhead.
    const bool rate = unknown.high <= 3;
    const double slow = quantile(spread, 0.9), fast = quantile(spread, 0.1);
    line(unknown.constant->name, unknown.cards, unknown.width,
         {value,
          value * std::min(1.0, rate ? 1 / slow : fast),
          value * std::max(1.0, rate ? 1 / fast : slow),
          static_cast<int>(unknown.rows.size()),
          {}},
         sources(unknown.rows));
  }

  void emit_intervals() {
    const std::pair<std::string_view, std::function<bool(const Subject&)>> kinds[] = {
        {"memory_interval",
         [](const Subject& s) {
           return is_memory(s.statistic) && s.statistic != Statistic::weights;
         }},
        {"decode_interval",
         [](const Subject& s) {
           return s.group.starts_with("decode") || s.group.starts_with("offload");
         }},
        {"prefill_interval", [](const Subject& s) { return s.group == "prefill"; }},
        {"serving_interval", [](const Subject& s) { return s.group.starts_with("serving"); }},
        {"load_interval", [](const Subject& s) { return s.group == "load_time"; }}};
    for (const auto& [name, belongs] : kinds) {
      std::vector<std::size_t> rows;
      for (std::size_t i = 0; i < subjects().size(); ++i)
        if (belongs(subjects()[i])) rows.push_back(i);
      const auto spread = ratios(rows);
      if (static_cast<int>(spread.size()) < fewest_rows) continue;
      line(name, any, any,
           {1,
            std::min(1.0, quantile(spread, 0.08)),
            std::max(1.0, quantile(spread, 0.92)),
            static_cast<int>(spread.size()),
            {}},
           sources(rows));
    }
  }

  const std::vector<Subject>& subjects() const { return search_.subjects(); }

  ConstantSearch search_;
  std::vector<Unknown> solved_;
  std::string text_;
};

}  // namespace

std::string fit(const std::vector<const Subject*>& subjects) {
  std::string text = "runtime\tconstant\tcards\twidth\tvalue\tlow\thigh\tmeasurements\tsource\n";
  const std::vector<Runtime> rows = model::policy_rows();
  for (const Runtime& row : rows) {
    if (row.family != row.name) continue;
    std::vector<Runtime> versions;
    for (const Runtime& each : rows)
      if (each.family == row.family) versions.push_back(each);
    std::vector<Subject> members;
    for (const Subject* each : subjects)
      if (each->scenario.runtime->family == row.family) members.push_back(*each);
    if (!members.empty()) text += EngineFit(std::move(versions), std::move(members)).lines();
  }
  return text;
}

}  // namespace headroom::sweep
