// An engine's own pass at start, whose peak decides how much memory stays free.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Contexts longer than this go through in chunks where prompts are whole otherwise. Source: vLLM
/// 0.6 engine/arg_utils.py.
inline constexpr Size longest_whole = 32768;

/// True if the engine has such a pass on this machine.
bool has_start_pass(const Scenario& scenario);
/// Tokens of a pass by the size of the first card; 0: a whole context, or no pass at start.
Size stated_tokens(const Scenario& scenario);
/// Sequences of the pass, unless more are requested; 0: it has none.
Size usual_sequences(const Scenario& scenario);
/// Sequences of the pass. A larger batch is requested if more run concurrently.
Size start_sequences(const Scenario& scenario);
/// Tokens of the pass: no more than so many sequences can have.
Size start_tokens(const Scenario& scenario);

}  // namespace headroom::model
