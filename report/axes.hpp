// From the number of a point back to the values of its axes, in memory: what the views do in SQL.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/columns.hpp"
#include "report/run_info.hpp"

namespace headroom::report {

/// A digit of a grid and what one step of it is worth in points.
struct Place {
  Size size = 1, stride = 1;
};

class Axes {
 public:
  explicit Axes(RunInfo info);

  const RunInfo& info() const { return info_; }
  /// The grid that the point is in.
  std::size_t grid_of(Size point) const;
  Size first_point(std::size_t grid) const { return first_[grid]; }
  const std::vector<Place>& places(std::size_t grid) const { return places_[grid]; }
  /// Position of the point in the digit.
  Size position(std::size_t grid, std::size_t digit, Size point) const {
    const Place& p = places_[grid][digit];
    return (point - first_[grid]) / p.stride % p.size;
  }
  /// nullptr: the point's grid has no such axis or fact.
  const AxisValue* value(std::string_view column, Size point) const;
  /// The value of any column at a point with this outcome; text lives as long as this.
  Cell cell(const Column& column, Size point, const model::Estimate& estimate,
            const model::IntervalFactors& factors) const;
  /// The interval factors that ride on the point's runtime; 1 where there are none.
  model::IntervalFactors factors(Size point) const;

 private:
  RunInfo info_;
  std::vector<Size> first_;
  std::vector<std::vector<Place>> places_;
  /// By grid and column: the digit, and which of its axes it is.
  std::vector<std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>>> columns_;
};

/// Text lives as long as the value.
Cell cell_of(const AxisValue& value);
/// As text; empty where there is none.
std::string text_of(const AxisValue* value);
/// As number; `otherwise` where there is none.
double number_of(const AxisValue* value, double otherwise);

}  // namespace headroom::report
