// Amounts and rates of spans as people write them.
#pragma once

#include <string>

#include "model/answer/time_spans.hpp"

namespace headroom::model {

/// "9.93 GB", "45.6 TFLOPs", "384 kernels".
std::string amount_words(const Span& span);
/// "883 GB/s", "77.1 TFLOPs/s"; "3.75 us each" for what is counted.
std::string rate_words(const Span& span);

}  // namespace headroom::model
