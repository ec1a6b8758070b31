#include "sweep/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "model/runtime_measured.hpp"
#include "model/runtime_rows.hpp"
#include "sweep/prediction.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::NamedConstant;
using model::Rates;
using model::Runtime;

/// What is fitted, and within which bounds. The rest of named_constants() is left as it is.
struct Bounds {
  std::string_view name;
  double low, high;
};
constexpr Bounds fitted[] = {{"context_bytes", 1e8, 2e9},     {"held_twice", 0.001, 0.3},
                             {"decode_bandwidth", 0.02, 1.0}, {"layer_overhead_s", 1e-6, 5e-3},
                             {"cache_cost", 0.3, 5.0},        {"expert_overhead_s", 1e-6, 2e-3},
                             {"prefill_compute", 0.01, 1.0},  {"reduce_latency_s", 1e-6, 5e-4},
                             {"score_traffic", 4, 100},       {"queue", 0.01, 1.0},
                             {"stream_bandwidth", 0.05, 1.0}, {"cpu_bandwidth", 0.1, 1.0},
                             {"cpu_compute", 0.05, 1.5},      {"load_bandwidth", 0.05, 1.0}};
constexpr double pull = 0.02;
constexpr int fewest_rows = 3;
constexpr std::size_t any = 99;

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double next = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (at - static_cast<double>(below)) * (next - values[below]);
}

/// One unknown: a constant of the engine, or of some cells of its rates.
struct Unknown {
  const NamedConstant* constant;
  double low, high;
  std::size_t cards = any, width = any;
  double common = 0;              ///< the value that all cells share; 0: this is it
  std::vector<std::size_t> rows;  ///< whose estimate it changes
};

class EngineFit {
 public:
  EngineFit(std::vector<Runtime> rows, std::vector<Subject> subjects)
      : rows_(std::move(rows)), row_(rows_.front()), subjects_(std::move(subjects)) {
    for (Subject& each : subjects_) {
      each.scenario.runtime =
          &*std::ranges::find(rows_, each.scenario.runtime->name, &Runtime::name);
      ++group_size_[each.group];
    }
    for (std::size_t i = 0; i < subjects_.size(); ++i) error_.push_back(error_of(i));
  }

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
  double error_of(std::size_t i) {
    std::string why;
    const auto found = predict(subjects_[i], why);
    if (!found) return 6;
    return std::min(6.0, std::abs(std::log(found->expected / subjects_[i].measured)));
  }
  double weight(std::size_t i) const { return 1.0 / group_size_.at(subjects_[i].group); }

  template <class F>
  void each_cell(const Unknown& unknown, F&& f) {
    for (Runtime& row : rows_)
      if (unknown.constant->of_runtime) f(row.*unknown.constant->of_runtime);
    if (unknown.constant->of_runtime) return;
    for (Runtime& row : rows_)
      for (std::size_t c = 0; c < model::card_classes; ++c)
        for (std::size_t w = 0; w < model::widths; ++w)
          if ((unknown.cards == any || unknown.cards == c) &&
              (unknown.width == any || unknown.width == w))
            f(row.rates[c][w].*unknown.constant->of_rates);
  }
  double get(const Unknown& unknown) {
    double value = 0;
    each_cell(unknown, [&](const Constant& cell) { value = cell.value; });
    return value;
  }
  void set(const Unknown& unknown, double value) {
    each_cell(unknown, [&](Constant& cell) { cell.value = value; });
  }

  /// Rows whose estimate the unknown changes.
  std::vector<std::size_t> affected(const Unknown& unknown) {
    const double before = get(unknown);
    std::vector<std::size_t> rows;
    set(unknown, before > 0 ? before * 1.3 : unknown.high / 2);
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      if (std::abs(error_of(i) - error_[i]) > 1e-9) rows.push_back(i);
    set(unknown, before);
    return rows;
  }

  std::vector<Unknown> unknowns() {
    std::vector<Unknown> all;
    for (const Bounds& bounds : fitted)
      for (const NamedConstant& constant : model::named_constants()) {
        if (constant.name != bounds.name) continue;
        Unknown each{.constant = &constant, .low = bounds.low, .high = bounds.high, .rows = {}};
        each.rows = affected(each);
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
          part.common = get(part);
          part.rows = affected(part);
          if (static_cast<int>(part.rows.size()) >= fewest_rows) all.push_back(std::move(part));
        }
    }
    return all;
  }

  double cost(const Unknown& unknown, double value) {
    set(unknown, value);
    double sum = 0;
    for (const std::size_t i : unknown.rows) sum += weight(i) * error_of(i);
    if (unknown.common > 0) sum += pull * std::pow(std::log(value / unknown.common), 2);
    return sum;
  }

  /// Golden section in the logarithm, from a scan that finds the right valley.
  double best(const Unknown& unknown, double before) {
    double low = std::log(unknown.low), high = std::log(unknown.high), middle = std::log(before);
    double least = cost(unknown, before);
    constexpr int steps = 16;
    for (int i = 0; i <= steps; ++i) {
      const double at = low + (high - low) * i / steps;
      if (const double c = cost(unknown, std::exp(at)); c < least) least = c, middle = at;
    }
    const double step = (high - low) / steps;
    low = std::max(low, middle - step);
    high = std::min(high, middle + step);
    constexpr double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = cost(unknown, std::exp(a)), at_b = cost(unknown, std::exp(b));
    for (int i = 0; i < 18; ++i) {
      if (at_a < at_b) {
        high = b, b = a, at_b = at_a;
        a = high - golden * (high - low);
        at_a = cost(unknown, std::exp(a));
      } else {
        low = a, a = b, at_a = at_b;
        b = low + golden * (high - low);
        at_b = cost(unknown, std::exp(b));
      }
    }
    const double found = std::exp((low + high) / 2);
    return cost(unknown, found) < least ? found : std::exp(middle);
  }

  void solve(std::vector<Unknown> unknowns) {
    for (int sweep = 0; sweep < 12; ++sweep) {
      double moved = 0;
      for (Unknown& each : unknowns) {
        const double before = std::max(get(each), each.low);
        const double found = best(each, before);
        set(each, found);
        moved = std::max(moved, std::abs(std::log(found / before)));
      }
      if (moved < 0.005) break;
    }
    for (std::size_t i = 0; i < subjects_.size(); ++i) error_[i] = error_of(i);
    solved_ = std::move(unknowns);
  }

  std::string sources(const std::vector<std::size_t>& rows) const {
    std::map<std::string, int> counts;
    for (const std::size_t i : rows) ++counts[short_source((*subjects_[i].row)["source"])];
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
    std::string why;
    for (const std::size_t i : rows)
      if (const auto found = predict(subjects_[i], why))
        all.push_back(subjects_[i].measured / found->expected);
    return all;
  }

  void line(std::string_view constant, std::size_t cards, std::size_t width, const Constant& c,
            const std::string& source) {
    text_ +=
        fmt::format("{}\t{}\t{}\t{}\t{:.4g}\t{:.4g}\t{:.4g}\t{}\t{}\n", row_.name, constant,
                    cards == any ? "any" : model::name_of(static_cast<model::CardClass>(cards)),
                    width == any ? "any" : model::name_of(static_cast<model::Width>(width)),
                    c.value, c.low, c.high, c.measurements, source);
  }

  void emit(const Unknown& unknown) {
    const double value = get(unknown);
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
      for (std::size_t i = 0; i < subjects_.size(); ++i)
        if (belongs(subjects_[i])) rows.push_back(i);
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

  std::vector<Runtime> rows_;  ///< versions of one engine
  Runtime& row_;
  std::vector<Subject> subjects_;
  std::map<std::string, int> group_size_;
  std::vector<double> error_;
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
