#include "bench/fit/folds.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>

namespace headroom::sweep {

Folds folds_by_set_up(const std::vector<const Measurement*>& rows,
                      const std::vector<std::string_view>& engines) {
  constexpr std::size_t parts = 20;
  using SetUp = std::array<std::string, 3>;
  const auto set_up = [](const Measurement& row) {
    return SetUp{short_source(row["source"]), row["model"], row["machine"]};
  };
  std::map<SetUp, std::size_t> fold;
  std::map<std::string_view, std::set<SetUp>> of_engine;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fold[set_up(*rows[i])] = 0;
    of_engine[engines[i]].insert(set_up(*rows[i]));
  }
  std::size_t place = 0;
  for (auto& [_, number] : fold) number = place++ % parts;
  Folds folds;
  std::map<std::string_view, std::size_t> dealt;
  for (std::size_t i = 0; i < rows.size(); ++i)
    folds.push_back(of_engine.at(engines[i]).size() < 2 ? dealt[engines[i]]++ % parts
                                                        : fold.at(set_up(*rows[i])));
  return folds;
}

Folds folds_by_set_up(const std::vector<ScoredRow>& subjects) {
  std::vector<const Measurement*> rows;
  std::vector<std::string_view> engines;
  for (const ScoredRow& each : subjects) {
    rows.push_back(each.row);
    engines.push_back(each.scenario.runtime->family);
  }
  return folds_by_set_up(rows, engines);
}

Folds folds_by_model(const std::vector<ScoredRow>& subjects) {
  constexpr std::size_t parts = 3;
  const auto model_of = [](const ScoredRow& s) { return s.scenario.weights->model->name; };
  std::map<std::string_view, std::set<std::string>> models_of;
  std::set<std::string> models;
  for (const ScoredRow& each : subjects) {
    models.insert(model_of(each));
    models_of[each.scenario.runtime->family].insert(model_of(each));
  }
  Folds folds;
  std::map<std::string_view, std::size_t> rows;
  for (const ScoredRow& each : subjects) {
    const auto family = each.scenario.runtime->family;
    const std::size_t place =
        models_of.at(family).size() < 2
            ? rows[family]++
            : static_cast<std::size_t>(std::distance(models.begin(), models.find(model_of(each))));
    folds.push_back(place % parts);
  }
  return folds;
}

namespace {

/// By a hash (FNV-1a), so that further sources leave the others where they are.
std::size_t part_of(std::string_view source, std::size_t parts) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : source) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash % parts;
}

}  // namespace

Folds folds_by_source(const std::vector<ScoredRow>& subjects) {
  constexpr int few = 20;
  constexpr std::size_t parts = 3;
  std::map<std::string, int> rows;
  for (const ScoredRow& each : subjects) ++rows[short_source((*each.row)["source"])];
  std::map<std::string, std::size_t> fold;
  std::size_t large = parts;
  for (const auto& [source, n] : rows) fold[source] = n < few ? part_of(source, parts) : large++;
  Folds folds;
  for (const ScoredRow& each : subjects)
    folds.push_back(fold.at(short_source((*each.row)["source"])));
  return folds;
}

std::size_t count(const Folds& folds) {
  return folds.empty() ? 0 : *std::ranges::max_element(folds) + 1;
}

}  // namespace headroom::sweep
