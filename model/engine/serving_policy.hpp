// How an engine batches requests.
#pragma once

#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

/// When an engine under load starts the next request.
enum class Admission {
  slots,      ///< a slot for a whole context is free
  whole,      ///< the cache has room for all of its prompt and output
  as_needed,  ///< the cache has room for its prompt: blocks follow as tokens come
};

/// How often the modules that predict further tokens may run in a step.
enum class Predictors {
  none,           ///< the engine leaves them out
  each_once,      ///< every module once: as many tokens as modules
  up_to_modules,  ///< one again and again; where there are several, each at most once
  multiples,      ///< some of them, or all of them again and again
  any,            ///< in turn, as often as asked
};

/// Context of a sequence that an engine reserves unless it is asked for another.
struct DefaultContext {
  Bytes from;   ///< on machines whose cards have this much usable memory together
  Size tokens;  ///< at most the model's positions
};

struct ServingPolicy {
  bool continuous_batching;  ///< the next request starts as soon as one ends
  Size most_sequences;       ///< it starts with no more; 0: as many as memory holds
  bool separate_prefill;     ///< prefill runs in passes of its own, not within decode steps
  Admission admission;
  std::vector<DefaultContext> default_contexts;  ///< by rising memory; empty: prompt and output
  bool shared_context;                           ///< concurrent sequences share the default context
  Size prefill_chunk;       ///< tokens of a prefill pass at most; 0: the whole prompt in one pass
  Size long_prefill_chunk;  ///< as above, for contexts beyond 32768 tokens; 0: as others
  std::string_view chunk_option;  ///< the engine's own option for prefill_chunk; empty: it has none
  Size draft_vocabulary;  ///< most rows by which a draft model's vocabulary may differ; below 0:
                          ///< decoding with a draft model is not described
  bool draft_states;      ///< recurrent states can go back to before a proposed token
  Predictors predictors;  ///< use of the checkpoint's own modules (MTP)
  std::vector<std::string_view> block_heads;  ///< heads of blocks that it runs: dflash, dspark
  /// Options of the command that `headroom launch` writes, where this version has others: "NEW OWN"
  /// is another name, "NEW -" an option to leave out. NEW alone cannot be asked for. NEW is an
  /// option, or "option=value", which OWN replaces as a whole.
  std::vector<std::string_view> options;
  Constant step_s;      ///< time of each pass: schedule, inputs, sampling, seconds
  Constant sequence_s;  ///< time of each sequence in a pass: schedule, detokeniser, stream,
                        ///< seconds
  Constant queue;       ///< share of requests that come together, as the first of a benchmark do
  Constant request_s;   ///< time of a request: front end, tokeniser, schedule, seconds
  Constant serving_interval, first_token_interval, throughput_interval;  ///< 80 % factors, loaded
};

}  // namespace headroom::model
