// Output of `headroom accuracy`.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "report/table.hpp"
#include "sweep/accuracy/accuracy.hpp"

namespace headroom::sweep {

/// rows, eligible, scored, skipped (id, reason) and groups, as numbers.
boost::json::object accuracy_object(const Accuracy& accuracy);
/// One row a measurement: what was measured, what is expected, and how far off.
report::Table accuracy_rows(const Accuracy& accuracy);
/// The groups for a terminal.
enum class LeftOutRows { counted, by_reason };
std::string accuracy_text(const Accuracy& accuracy, LeftOutRows unscored_rows);
/// The page: groups, sources, engines, worst rows, and what was left out.
std::string accuracy_page(const Accuracy& accuracy);

}  // namespace headroom::sweep
