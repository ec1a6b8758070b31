#include "sweep/accuracy/constant_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "model/answer/explain.hpp"

namespace headroom::sweep {
namespace {

/// Every constant that may be fitted. Rates are separate for each measured card and width. Each
/// constant is regularised towards its shipped value.
std::vector<Unknown> candidates(const ConstantSearch& search) {
  std::set<std::pair<std::size_t, std::size_t>> cells;
  for (const ScoredRow& each : search.subjects())
    if (const auto& devices = each.scenario.machine->devices; !devices.empty())
      cells.emplace(static_cast<std::size_t>(model::card_class(devices.front())),
                    static_cast<std::size_t>(model::width_of(*each.scenario.weights)));
  std::vector<Unknown> all;
  for (const Bounds& bounds : constant_bounds()) {
    Unknown each{.constant = &constant_named(bounds.name),
                 .low = bounds.low,
                 .high = bounds.high,
                 .pull = 0.02,
                 .rows = {}};
    const auto add = [&](Unknown one) {
      one.common = search.get(one);
      if (one.common > 0) all.push_back(std::move(one));
    };
    if (each.constant->of_engine) add(each);
    for (const auto& [cards, width] : cells) {
      if (!each.constant->of_efficiency) continue;
      each.cards = cards;
      each.width = width;
      add(each);
    }
  }
  return all;
}

/// d ln(expected) / d ln(constant), by subject.
std::vector<double> derivatives(ConstantSearch& search, const Unknown& unknown) {
  constexpr double step = 1.1;
  const double before = search.get(unknown);
  std::vector<double> column;
  for (std::size_t i = 0; i < search.subjects().size(); ++i) {
    // It moves times only where it moves a layer, which says nothing of it.
    if (is_of_memory(*unknown.constant) && !is_memory(search.subjects()[i].statistic)) {
      column.push_back(0);
      continue;
    }
    const auto low = search.expected(i);
    search.set(unknown, before * step);
    const auto high = search.expected(i);
    search.set(unknown, before);
    column.push_back(low && high ? std::log(*high / *low) / std::log(step) : 0);
  }
  return column;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Chooses one after the other; the others get a reason.
class Chooser {
 public:
  explicit Chooser(ConstantSearch& search) : left_(candidates(search)) {
    for (const Unknown& each : left_) columns_.push_back(derivatives(search, each));
    original_ = columns_;
    const std::size_t most = search.subjects().size() / 2;
    while (out_.chosen.size() < most && choose_one()) continue;
    for (std::size_t j = 0; j < left_.size(); ++j) explain(j, out_.chosen.size() == most);
  }

  ConstantChoice choice() { return std::move(out_); }

 private:
  bool choose_one() {
    std::size_t best = 0;
    double length = 0;
    for (std::size_t j = 0; j < left_.size(); ++j)
      if (const double l = std::sqrt(dot(columns_[j], columns_[j])); l > length) {
        length = l;
        best = j;
      }
    if (length < min_column_length) return false;
    std::vector<double> direction = columns_[best];
    for (double& x : direction) x /= length;
    out_.chosen.push_back(with_rows(best));
    chosen_columns_.push_back(original_[best]);
    for (auto* list : {&columns_, &original_})
      list->erase(list->begin() + static_cast<std::ptrdiff_t>(best));
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(best));
    for (auto& column : columns_) {
      const double part = dot(column, direction);
      for (std::size_t i = 0; i < column.size(); ++i) column[i] -= part * direction[i];
    }
    return true;
  }

  /// The candidate with the measurements that depend on it.
  Unknown with_rows(std::size_t j) const {
    Unknown unknown = left_[j];
    for (std::size_t i = 0; i < original_[j].size(); ++i)
      if (std::abs(original_[j][i]) > 1e-9) unknown.rows.push_back(i);
    return unknown;
  }

  void explain(std::size_t j, bool full) {
    const double length = std::sqrt(dot(original_[j], original_[j]));
    if (length < 1e-6) return;  // no row has to do with it
    std::string why;
    if (length < min_column_length) {
      why = "the measurements hardly depend on it";
    } else if (std::sqrt(dot(columns_[j], columns_[j])) < min_column_length) {
      std::size_t nearest = 0;
      double most = 0;
      for (std::size_t k = 0; k < out_.chosen.size(); ++k)
        if (const double cosine = std::abs(dot(chosen_columns_[k], original_[j])) /
                                  std::sqrt(dot(chosen_columns_[k], chosen_columns_[k]));
            cosine > most) {
          most = cosine;
          nearest = k;
        }
      out_.alternatives.push_back({with_rows(j), name_of(out_.chosen[nearest])});
      why = fmt::format("they cannot separate it from {}", out_.alternatives.back().of);
    } else {
      why = full ? "too few measurements for another constant" : "not chosen";
    }
    out_.not_fitted.push_back({name_of(left_[j]), why});
  }

  ConstantChoice out_;
  std::vector<Unknown> left_;
  std::vector<std::vector<double>> columns_, original_, chosen_columns_;
};

}  // namespace

ConstantChoice choose_constants(ConstantSearch& search) { return Chooser(search).choice(); }

}  // namespace headroom::sweep
