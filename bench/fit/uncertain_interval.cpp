#include "bench/fit/uncertain_interval.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "bench/fit/constant_lines.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {

model::Constant uncertain_interval(const std::vector<ScoredRow>& subjects,
                                   const std::vector<std::size_t>& rows,
                                   const std::vector<std::optional<double>>& expected) {
  constexpr double tail = 0.08;
  const auto source = [&](std::size_t i) { return short_source((*subjects[i].row)["source"]); };
  std::map<std::string, double> of_source;
  for (const std::size_t i : rows) ++of_source[source(i)];
  std::vector<Weighed> ratios;
  for (const std::size_t i : rows)
    if (const auto e = expected[i])
      if (const auto ratio = uncertain_ratio(subjects[i], *e))
        ratios.push_back({*ratio, 1 / of_source[source(i)]});
  return {1,
          std::clamp(quantile(ratios, tail), 0.0, 1.0),
          std::max(1.0, quantile(ratios, 1 - tail)),
          static_cast<int>(ratios.size()),
          {}};
}

}  // namespace headroom::sweep
