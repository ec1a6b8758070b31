// Changes between two runs as a person reads them first.
#pragma once

#include <string>

#include "report/diff.hpp"

namespace headroom::sweep {

/// Length of a screen.
enum class ScreenLength { short_screen, details };
/// At most 30 lines of at most 100 columns: how many best ways changed, which ones, inputs that
/// changed, and counts of points. With details every row, and all answers that changed.
std::string diff_screen(const report::Diff& diff, ScreenLength length);

}  // namespace headroom::sweep
