// One point as the row of `result` that a sweep would store.
#pragma once

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/run_info.hpp"
#include "report/table.hpp"

namespace headroom::sweep {

/// Every column by name, those of training where it is one; `axes` has axes and facts, one value
/// each.
report::Table result_row(const report::Digit& axes, const model::Estimate& estimate,
                         const model::IntervalFactors& factors);

}  // namespace headroom::sweep
