#include "report/way_rows.hpp"

#include <algorithm>
#include <limits>

#include "model/answer/way_order.hpp"
#include "report/reports.hpp"

namespace headroom::report {
namespace {

double bits_of(const ModelRow& row) {
  return model::bits_per_parameter(row.roomiest().estimate.weights, row.parameters);
}

bool is_own(const ModelRow& row) { return row.held == row.checkpoint; }

}  // namespace

bool is_tight(const ModelRow& row) {
  const model::Estimate& e = row.roomiest().estimate;
  return model::is_on_gpus(e) && e.sure == model::Confidence::marginal;
}

std::vector<const ModelRow*> ordered_ways(std::span<const ModelRow* const> here) {
  auto ways = without_repeats({here.begin(), here.end()});
  double most = std::numeric_limits<double>::infinity();
  for (const ModelRow* row : ways)
    if (is_own(*row) && model::fits(row->roomiest().estimate)) most = bits_of(*row);
  const auto place = [&](const ModelRow& row) {
    return model::way_place(row.roomiest().estimate, is_tight(row), std::min(most, bits_of(row)));
  };
  std::ranges::stable_sort(
      ways, [&](const ModelRow* a, const ModelRow* b) { return place(*a) < place(*b); });
  return ways;
}

const ModelRow& best_way(std::span<const ModelRow* const> here) {
  return *ordered_ways(here).front();
}

}  // namespace headroom::report
