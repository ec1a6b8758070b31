// A curve in characters, for a terminal.
#pragma once

#include <string>

#include "report/curve.hpp"

namespace headroom::report {

/// Output tokens per second, in `height` rows (odd), over the allocation, one symbol a curve, `x`
/// where it is out of memory:
///
///   tokens/s
///     40 |                        oooooooo
///        |                     oo
///     20 |              ooooooo
///        |   oooooooooo
///      0 |xxx
///        +--------------------------------
///         0              8             16 GiB on the GPU
std::string text_plot(const Figure& figure, int height = 7);

}  // namespace headroom::report
