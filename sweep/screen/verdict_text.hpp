// Verdicts in words, with what the interval of memory leaves open.
#pragma once

#include <string>

#include "model/infer/estimate.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// "fits on 2 GPUs, perhaps on 1"; "fits on 1 GPU, tight: it may take 23.4 of 22.0 GiB"; "does not
/// fit: 1.20 GiB of GPU memory short, or just fits".
std::string verdict_text(const model::Scenario& scenario, const model::Estimate& estimate);

/// "refused with q8_0 under llama.cpp: the engine does not run models of this class", and what
/// would work. `scenario` is refused, and has these words in every command.
std::string refusal_text(const model::Scenario& scenario);

/// "Tight: it may take 23.4 of 22.0 GiB; --context 4096 is safe.", as a paragraph; empty for a
/// placement that is not tight.
std::string tight_line(const GivenScenario& given, const model::Scenario& scenario,
                       const model::Estimate& estimate);

}  // namespace headroom::sweep
