// Parts of times (model/answer/breakdown.hpp) as tables and as JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "model/answer/breakdown.hpp"
#include "model/infer/intervals.hpp"

namespace headroom::sweep {

/// "149 rows", or "unmeasured".
std::string measured_words(const model::Interval& interval);
/// "612 TFLOP"; empty for none.
std::string flops_text(double flops);
/// A table for each of the times, what bounds it, and the rates of each device.
std::string speed_text(const std::vector<model::PassBreakdown>& passes);
/// [{"name", "seconds", "bound_s": {"memory", …}, "parts": [{"part", "where", "weights_bytes",
/// …}]}]
boost::json::array speed_array(const std::vector<model::PassBreakdown>& passes);

}  // namespace headroom::sweep
