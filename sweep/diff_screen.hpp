// Changes between two runs as a person reads them first.
#pragma once

#include <string>

#include "report/diff.hpp"

namespace headroom::sweep {

/// The axes of a point in words: "rtx-4090, batch 8".
std::string axis_words(const report::Diff& diff, const report::PointChange& change);

/// At most 30 lines of at most 100 columns, but for long names: how much changed, then decisions,
/// the largest changes of numbers, and inputs.
std::string diff_screen(const report::Diff& diff);

}  // namespace headroom::sweep
