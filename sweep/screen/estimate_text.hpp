// An estimate in words.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/answer/explain.hpp"
#include "model/infer/traffic.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

enum class Terms { hidden, shown };
/// `serving`: what requests see, where the engine batches continuously.
std::string estimate_text(const GivenScenario& given, const model::Explanation& explained,
                          const std::optional<model::Traffic>& serving, Terms terms);

/// Meaning of memory of this size without a card: "4 to 8 GiB: moderate, …".
std::string_view memory_band(Bytes bytes);

}  // namespace headroom::sweep
