// An estimate as a person reads it first: the verdict, the ways compared, what was assumed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/traffic.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// At most 30 lines of at most 100 columns, but for long names. `given` is on a machine. `serving`:
/// shown for several requests at once. `notes`: on the checkpoint's own modules for speculation,
/// and on fewer cards or requests.
std::string answer_text(const GivenScenario& given, const model::Explanation& explained,
                        const std::optional<model::Traffic>& serving,
                        const std::vector<std::string>& notes);

}  // namespace headroom::sweep
