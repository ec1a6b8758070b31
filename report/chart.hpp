// A figure as the two files that draw it: data, and a gnuplot script that makes STEM.png and
// STEM.svg of it in the folder where both lie: `gnuplot STEM.gp`.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "report/curve.hpp"

namespace headroom::report {

/// Colours of curves and points, of all figures.
inline constexpr std::array colours = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                       "#E69F00", "#56B4E9", "#000000"};

/// The 80 % interval of a value of a point.
std::pair<double, double> band(const CurvePoint& point, double CurvePoint::*value);

/// One block for each curve, with a comment line that says the columns and their units.
std::string chart_data(const Figure& figure);
std::string chart_script(const Figure& figure);

/// Labels of a logarithmic axis: 1, 2, 5, 10, … within the range, or 1, 10, … if those would be too
/// dense.
std::string logarithmic_ticks(double low, double high);
/// `text` as gnuplot's literal string, on one line.
std::string gnuplot_string(std::string_view text);

}  // namespace headroom::report
