#include "published.hpp"

#include <cmath>

#include "sweep/accuracy/published_sizes.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::oracle {

std::map<std::string, std::string> published_models() {
  std::map<std::string, std::string> references;
  for (const Row& row : read_csv("quantised_models.csv"))
    references[row.at("model")] = row.at("reference");
  return references;
}

std::map<std::string, Row> canonical_sizes() {
  std::map<std::string, Row> rows;
  for (const Row& row : read_csv("../../accuracy/canonical/quantised_sizes.csv"))
    rows[row.at("id")] = row;
  return rows;
}

namespace {

sweep::Measurement measurement(const Row& row) {
  return {.file = {}, .line = 0, .fields = {row.begin(), row.end()}};
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
  if (it != models.end()) return it->second;
  auto found = sweep::resolve_models(std::vector{reference}, sweep::Hub(), sweep::Need::counts);
  if (found.at(0).failure) std::rethrow_exception(found.at(0).failure);
  return models.emplace(reference, std::move(*found.at(0).model)).first->second;
}

double rounding(const std::string& printed) {
  const auto dot = printed.find('.');
  const std::size_t digits = dot == std::string::npos ? 0 : printed.size() - dot - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(digits)) * (1 + 1e-9);
}

bool same_parameters(const std::string& printed, const Row& row, const model::Model& m) {
  const std::size_t end = printed.find_first_not_of("0123456789.");
  if (end == std::string::npos || end < 5) return true;
  const double scale = printed[end] == 'T' ? 1e12 : 1e9;
  const auto ours = static_cast<double>(published_parameters(row, m));
  return std::abs(std::stod(printed) - ours / scale) <= rounding(printed.substr(0, end));
}

}  // namespace headroom::oracle
