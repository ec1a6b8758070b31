#include "published.hpp"

#include <cmath>

#include "sweep/accuracy/published_sizes.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::oracle {

std::map<std::string, std::string> published_models() {
  std::map<std::string, std::string> references;
  for (const Row& row : read_csv("quantised_models.csv"))
    references[row.at("model")] = row.at("reference");
  return references;
}

namespace {

sweep::Measurement measurement(const Row& row) {
  return {.file = {}, .line = 0, .fields = row, .settings = {}};
}

}  // namespace

std::vector<const model::Scheme*> published_schemes(const Row& row) {
  return sweep::published_schemes(measurement(row));
}

Size published_parameters(const Row& row, const model::Model& m) {
  return sweep::published_parameters(measurement(row), m);
}

const model::Model& cached_model(const std::string& reference) {
  static std::map<std::string, model::Model> models;
  const auto it = models.find(reference);
  return it != models.end()
             ? it->second
             : models.emplace(reference, sweep::resolve_model(reference)).first->second;
}

bool same_parameters(const Row& row, const model::Model& m) {
  const std::string& printed = row.at("params_published");
  const std::size_t end = printed.find_first_not_of("0123456789.");
  if (end == std::string::npos || end < 5) return true;
  const double scale = printed[end] == 'T' ? 1e12 : 1e9;
  const auto ours = static_cast<double>(published_parameters(row, m));
  return std::abs(std::stod(printed) - ours / scale) <= sweep::rounding(printed.substr(0, end));
}

}  // namespace headroom::oracle
