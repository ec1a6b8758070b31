// One grid point with its names resolved: what evaluate() takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hardware/machine.hpp"
#include "hardware/precision.hpp"
#include "hardware/units.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/cache_precision.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

enum class Task : std::uint8_t { inference, training };

struct LayerSplit;  // model/infer/scenario/layer_split.hpp
struct Assignment;  // model/infer/placement/assignment.hpp
struct Draft;       // model/infer/scenario/draft.hpp

/// No limit of the user's: all that the hardware has.
inline constexpr Bytes unlimited{std::numeric_limits<std::int64_t>::max()};

/// Images in the prompt of each sequence, all alike; their tokens are among the prompt's.
struct Images {
  Size count = 0;
  Size patches = 0;  ///< patches of each image that go through the vision tower
  Size hidden = 0;   ///< width of the tower

  bool operator==(const Images&) const = default;
};

/// An option of an engine that has a default.
enum class Override : std::uint8_t { engine_default, on, off };

/// One grid point with its names resolved. Pointers outlive the scenario. They are never null
/// unless said.
struct Scenario {
  Task task = Task::inference;
  const QuantisedModel* weights = nullptr;  ///< model × precision
  const Machine* machine = nullptr;
  const Engine* runtime = nullptr;
  CachePrecision kv_precision{};  ///< asked for; null formats: see cache_precision()
  /// Concurrent sequences on each replica. If the engine has a pool of cache for all of them,
  /// sequences without room wait.
  Size batch = 1;
  Size prompt_tokens = 512, output_tokens = 128;
  Size context = 0;  ///< tokens of KV cache per sequence; 0: the engine's, at least prompt + output
  Size least_context = 0;    ///< fewest of those tokens where `context` is 0
  Size longest_request = 0;  ///< tokens of the longest request that a server takes; 0: the context
  Bytes gpu_budget = unlimited;  ///< all the process may use on each card, as nvidia-smi shows it
  double gpu_share = 0;  ///< share of each card in place of the engine's; 0: the engine's own
  Bytes ram_budget = unlimited;
  Bytes disk_budget = unlimited;
  Size tensor_parallel = 0;    ///< cards that share each matrix; 0: as the runtime splits
  Size pipeline_parallel = 0;  ///< stages of layers; 0: see stages()
  Size expert_parallel = 0;    ///< cards over which whole experts are spread; 0: split as matrices
  Size data_parallel = 0;      ///< replicas, each with `batch` sequences of its own; 0: one
  Bytes cpu_offload{0};        ///< weights of each card that stay in host memory
  const LayerSplit* layer_split = nullptr;  ///< layers placed by hand; null: the runtime decides
  const Assignment* assignment = nullptr;   ///< the place of each layer; null: likewise
  bool kv_cache = true;                     ///< false: every token recomputes the whole prefix
  Override flash_attention = Override::engine_default;  ///< if the engine has the option
  /// False: weights in host memory are copied there, although the engine would map their file.
  bool maps_files = true;
  bool enforce_eager = false;  ///< without CUDA graphs, for an engine that captures them
  Size threads = 0;            ///< CPU threads; 0: one for each physical core
  Size max_sequences =
      0;  ///< most sequences that run at once, the others wait; 0: the engine's own
  /// Without max_sequences: fewer than the engine's own are asked for where only those fit
  /// (model/infer/placement/asked_sequences.hpp). False: the engine ran with its own, or with a
  /// number that a measured row leaves out.
  bool may_ask_for_fewer = true;
  Size chunk_tokens = 0;  ///< most tokens of a prefill pass; 0: the engine's own
  Size batch_parts = 1;   ///< parts of the batch, which go through each layer in turn, copied once
                          ///< for all
  const Draft* draft = nullptr;  ///< a smaller model that proposes tokens; null: none
  /// The model whose caches are in the pool of pages of this draft; null: it is no draft alone.
  const QuantisedModel* pool_partner = nullptr;
  Images images{};
  Size concurrency = 0;  ///< concurrent requests of an engine under load, `batch`; 0: not asked
  Size prompt_tokens_p95 = 0, output_tokens_p95 = 0;  ///< 95th percentiles of those requests; 0:
                                                      ///< equal lengths
  /// Limits on the slowest of those requests where they come at random, microseconds; 0: none.
  Size max_ttft_p95 = 0, max_tpot_p95 = 0, max_total_p99 = 0;
  /// Thousandths: burstiness of such arrivals, and the most load of the engine; 0: the usual.
  Size burstiness = 0, load_factor = 0;

  bool operator==(const Scenario&) const = default;
  /// Stages of layers, as asked for. Engines with ParallelPolicy::stage_a_box have one in each full
  /// box of several cards if neither a division nor a draft was asked for.
  Size stages() const;
  /// Tokens of KV cache that the engine reserves for a sequence unless asked for another number;
  /// 0: as many as the sequence has.
  Size default_context() const {
    return runtime == nullptr || runtime->serving.default_contexts.empty() ? 0 : own_context();
  }
  Size cached_tokens() const {
    if (context > 0) return context;
    return std::max(prompt_tokens + output_tokens, std::max(default_context(), least_context));
  }
  /// Sequences of the batch that the engine may run at once.
  Size most_at_once() const { return max_sequences > 0 ? std::min(batch, max_sequences) : batch; }
  /// True if the model has positions for these tokens, or no limit on them.
  bool within_positions() const;
  /// True if the rate of requests that come at random is asked for.
  bool asks_for_arrivals() const {
    return max_ttft_p95 + max_tpot_p95 + max_total_p99 + burstiness + load_factor > 0;
  }
  /// Sequences that go through a layer together.
  Size batch_part() const { return batch_parts == 1 ? batch : divided_up(batch, batch_parts); }

 private:
  Size own_context() const;  ///< default_context() of an engine that has one
};

/// The machine by whose cards an engine chooses how to load weights. It has none where a budget of
/// nothing hides them.
const Machine& computing_machine(const Scenario& scenario);

}  // namespace headroom::model
