// The condition of --fail-if over a diff: where it holds, in one line.
#pragma once

#include <string>

#include "report/condition.hpp"
#include "report/diff.hpp"

namespace headroom::sweep {

/// The places where a condition holds.
struct Alert {
  Size count = 0;        ///< best ways, or points
  bool of_ways = false;  ///< the condition reads best ways and their inputs alone
  Size models = 0;       ///< number of their models
  std::string first;     ///< the first of them, with the values that the condition reads
};

/// The condition over rows "old" and "new". Throws report::ConditionError, which lists what it may
/// read where a column is unknown.
report::Condition alert_condition(const std::string& expression);
/// Throws report::ConditionError for a text that a column cannot have, and as Condition::holds().
Alert alert_of(const report::Diff& diff, const std::string& expression,
               const report::Condition& condition);
/// "--fail-if holds for 3 best ways of 2 models; the first: …".
std::string alert_words(const Alert& alert);

}  // namespace headroom::sweep
