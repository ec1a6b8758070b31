// An estimate in words.
#pragma once

#include <string>
#include <string_view>

#include "sweep/scenario_options.hpp"

namespace headroom::sweep {

enum class Terms { hidden, shown };
std::string estimate_text(const GivenScenario& given, const model::Explanation& explained,
                          Terms terms);

/// What memory of this size means where no card is given: "4 to 8 GiB: moderate, …".
std::string_view memory_band(Bytes bytes);

}  // namespace headroom::sweep
