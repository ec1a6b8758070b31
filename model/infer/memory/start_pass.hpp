// An engine's own pass at start, whose peak decides how much memory stays free.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Contexts longer than this go through in chunks where prompts are whole otherwise. Source: vLLM
/// 0.6 engine/arg_utils.py.
inline constexpr Size longest_whole = 32768;

/// True if the engine has such a pass on this machine.
inline bool has_start_pass(const Scenario& s) {
  return s.runtime->memory.start_pass.sequences > 0 && !s.machine->devices.empty();
}
/// Tokens of a pass: those asked for, else by the size of the first card. 0: a whole context, or no
/// pass at start.
Size stated_tokens(const Scenario& scenario);
/// Sequences of the pass by the size of the first card; 0: it has none.
Size usual_sequences(const Scenario& scenario);
/// Sequences of the pass: as many as may run at once. Without such a limit a larger batch raises
/// it.
Size start_sequences(const Scenario& scenario);
/// CUDA graphs that the engine captures. Those of whole passes go up to as many tokens as
/// sequences, those of the parts between attention up to twice as many. Both end at 512 tokens.
/// Sizes are 1, 2, 4, by 8 to 256 and by 16 from there. Source: vLLM 0.28 config/vllm.py
/// _set_cudagraph_sizes. Left out: 1024 on compute capability 10 from 0.33 on, and fewer whole
/// passes with proposed tokens.
Size captured_graphs(const Scenario& scenario);
/// Bytes of those graphs on a card, where they are within the engine's share. Source: vLLM 0.26
/// v1/worker/gpu_model_runner.py profile_cudagraph_memory: the first graph, and as much for each
/// further one as the second takes.
double graphs_in_share(const Scenario& scenario);
/// An engine at its start, whatever the sizes are.
struct StartRules {
  explicit StartRules(const Scenario& scenario);

  bool has_pass;                              ///< has_start_pass()
  Size stated_tokens, usual_sequences;        ///< as the functions
  double first_graph = 0, further_graph = 0;  ///< bytes of CUDA graphs within the engine's share
};
/// As the functions without rules. `rules`: the scenario's, `context`: its cached_tokens().
Size start_sequences(const Scenario& scenario, const StartRules& rules);
Size start_tokens(const Scenario& scenario, const StartRules& rules, Size context);
double graphs_in_share(const Scenario& scenario, const StartRules& rules);
/// Bytes of the process in host memory that the pass counts as the card's: all of them where both
/// have one memory. Source: vLLM 0.26 and 0.33 utils/mem_utils.py MemorySnapshot.measure, where the
/// card's memory in use is what the host's is. Four start-up logs of GB10 confirm it.
Bytes process_on_card(const Scenario& scenario);
/// The host's own use of a memory that the card shares (MemoryPolicy::host_of_unified_bytes). It is
/// in no sum, but it moves what the pass finds free. 0 elsewhere, and without such a pass. Source:
/// as process_on_card(). Logs of GB10 and Thor differ by -5 to +10 GiB from what vLLM takes.
Bytes host_beside_pass(const Scenario& scenario);
/// Tokens of the pass: no more than so many sequences can have.
Size start_tokens(const Scenario& scenario);

}  // namespace headroom::model
