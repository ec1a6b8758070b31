#include "sweep/accuracy/folds.hpp"

#include <algorithm>
#include <set>

namespace headroom::sweep {

Folds folds_by_model(const std::vector<Subject>& subjects) {
  constexpr std::size_t parts = 3;
  const auto model_of = [](const Subject& s) { return s.scenario.weights->model->name; };
  std::map<std::string_view, std::set<std::string>> models_of;
  std::set<std::string> models;
  for (const Subject& each : subjects) {
    models.insert(model_of(each));
    models_of[each.scenario.runtime->family].insert(model_of(each));
  }
  Folds folds;
  std::map<std::string_view, std::size_t> rows;
  for (const Subject& each : subjects) {
    const auto family = each.scenario.runtime->family;
    const std::size_t place =
        models_of.at(family).size() < 2
            ? rows[family]++
            : static_cast<std::size_t>(std::distance(models.begin(), models.find(model_of(each))));
    folds.push_back(place % parts);
  }
  return folds;
}

Folds folds_by_source(const std::vector<Subject>& subjects) {
  constexpr int few = 20;
  constexpr std::size_t parts = 3;
  std::map<std::string, int> rows;
  for (const Subject& each : subjects) ++rows[short_source((*each.row)["source"])];
  std::map<std::string, std::size_t> fold;
  std::size_t small = 0, large = parts;
  for (const auto& [source, n] : rows) fold[source] = n < few ? small++ % parts : large++;
  Folds folds;
  for (const Subject& each : subjects)
    folds.push_back(fold.at(short_source((*each.row)["source"])));
  return folds;
}

std::size_t count(const Folds& folds) {
  return folds.empty() ? 0 : *std::ranges::max_element(folds) + 1;
}

}  // namespace headroom::sweep
