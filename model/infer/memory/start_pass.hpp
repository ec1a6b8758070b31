// An engine's own pass at start, whose peak decides how much memory stays free.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Contexts longer than this go through in chunks where prompts are whole otherwise. Source: vLLM
/// 0.6 engine/arg_utils.py.
inline constexpr Size longest_whole = 32768;

/// True if the engine has such a pass on this machine.
bool has_start_pass(const Scenario& scenario);
/// Tokens of a pass: those asked for, else by the size of the first card. 0: a whole context, or no
/// pass at start.
Size stated_tokens(const Scenario& scenario);
/// Sequences of the pass by the size of the first card; 0: it has none.
Size usual_sequences(const Scenario& scenario);
/// Sequences of the pass: as many as may run at once. Without such a limit a larger batch raises
/// it.
Size start_sequences(const Scenario& scenario);
/// CUDA graphs that the engine captures: of whole passes up to as many tokens as sequences, and of
/// the parts between attention up to twice as many, both at most 512. Sizes are 1, 2, 4, by 8 to
/// 256 and by 16 from there. Source: vLLM 0.28 config/vllm.py _set_cudagraph_sizes. Left out: 1024
/// on compute capability 10 from 0.33 on, and fewer whole passes with proposed tokens.
Size captured_graphs(const Scenario& scenario);
/// Tokens of the pass: no more than so many sequences can have.
Size start_tokens(const Scenario& scenario);

}  // namespace headroom::model
