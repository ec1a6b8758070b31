// Curves as SVG inside a page: readable without script, in light and in dark, and distinguishable
// without colour.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::report {

/// `text` safe inside HTML and SVG, attributes too.
std::string html_text(std::string_view text);

struct SvgSeries {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< ascending; not finite: no point there
  std::vector<std::size_t> marks{};               ///< points with a ring
};

struct SvgChart {
  std::string id;  ///< unique in its page
  std::string title, description;
  std::string x_heading, y_heading;
  std::vector<SvgSeries> series;
  std::vector<std::pair<double, std::string>> x_labels{};  ///< empty: numbers
};

/// One <svg> element with a title and a description for readers who do not see it.
std::string svg(const SvgChart& chart);

}  // namespace headroom::report
