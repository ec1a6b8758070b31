// The data file of a figure: a block of points for each curve, then one of its interval.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/chart.hpp"
#include "report/format.hpp"

namespace headroom::report {
namespace {

std::string field(double v) { return std::isfinite(v) ? shortest(v) : std::string("NaN"); }

std::string band_row(double allocation, const CurvePoint& p) {
  std::string row = shortest(allocation);
  for (const auto value : {&CurvePoint::tokens_s, &CurvePoint::ttft_s, &CurvePoint::load_s}) {
    const auto [low, high] = band(p, value);
    row += fmt::format(" {} {}", field(low), field(high));
  }
  return row + '\n';
}

/// A point that holds up to the next one holds with its interval.
std::string band_blocks(const Figure& figure) {
  std::string data;
  for (const Curve& curve : figure.curves) {
    data += "\n\n# " + curve.label +
            ", 80 % interval: allocation_GiB tokens_s_low tokens_s_high ttft_s_low ttft_s_high "
            "load_s_low load_s_high\n";
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& p = curve.points[i];
      if (i > 0 && curve.between == Between::step)
        data += band_row(p.allocation, curve.points[i - 1]);
      data += band_row(p.allocation, p);
    }
  }
  return data;
}

}  // namespace

std::string chart_data(const Figure& figure) {
  std::string data = "# " + figure.title + "\n# " + figure.subtitle +
                     "\n# allocation_GiB tokens_s ttft_s load_s knee_tokens_s knee_ttft_s "
                     "knee_load_s out_of_memory\n";
  std::ranges::replace(data, '\r', ' ');
  for (const Curve& curve : figure.curves) {
    data += "\n\n# " + curve.label + "\n";
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& p = curve.points[i];
      const bool knee = curve.knee && curve.knee->index == i;
      data += fmt::format("{} {} {} {}", shortest(p.allocation), field(p.tokens_s), field(p.ttft_s),
                          field(p.load_s));
      data += knee ? fmt::format(" {} {} {}", field(p.tokens_s), field(p.ttft_s), field(p.load_s))
                   : std::string(" NaN NaN NaN");
      data += p.fits ? " 0\n" : " 1\n";
    }
  }
  if (figure.bands) data += band_blocks(figure);
  return data;
}

}  // namespace headroom::report
