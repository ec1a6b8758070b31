// Working memory of forward passes at inference.
#pragma once

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/infer/memory/start_pass.hpp"

namespace headroom::model {

/// Tokens of the largest pass: the whole prompt of the batch, or the runtime's chunk of it. If the
/// engine has a pass of its own at start, that pass counts for any prompts.
Size pass_tokens(const Scenario& scenario);
/// Bytes of one attention score with its copies; 0: scores are never all in memory.
Size score_bytes(const Scenario& scenario);
/// Tokens of a prefill pass at most; 0: the whole prompt in one pass.
Size prefill_chunk(const Scenario& scenario);
/// All that it depends on besides the context.
struct ChunkRule {
  explicit ChunkRule(const Scenario& scenario);
  /// prefill_chunk() of a scenario with this rule.
  Size of(const Scenario& s) const {
    return longer == usual || s.cached_tokens() <= longest_whole ? usual : longer;
  }

  Size usual, longer;  ///< the second beyond a context of longest_whole
};
/// Limit for all sequences together, as the engine is started on these cards.
Size batched_tokens(const Scenario& scenario);
/// Tokens of all passes that are scheduled and not done. Sliding windows keep them too. Source:
/// vLLM 0.33 config/vllm.py max_in_flight_tokens.
Size tokens_in_flight(const Scenario& scenario);

/// Peak bytes of a pass over `tokens` on one of `shards` cards that split each matrix: the largest
/// of
///
///   feed-forward  tokens * (residual_copies * hidden + widest_share * widest / shards) * element
///   attention     tokens * (residual_copies * hidden * element + heads / shards * keys * score)
///   logits        tokens * hidden * element + rows * vocabulary / shards * logit
///
/// The first two with tokens * cells * mask besides. Attention also has a layer's keys and values
/// of all sequences in 16 bit, where the engine's kernels copy them (MemoryPolicy::cache_copies).
/// Source: llama.cpp 0c1e5709 ggml-cuda/fattn.cu, ggml_cuda_flash_attn_ext_get_alloc_size.
///
/// hidden: width of the residual stream, which the engine stores in several copies. widest:
/// elements per token of the widest submodule (gate, up and their product). keys: tokens that
/// attention uses, if its scores are in memory (no flash attention). rows: the last position of
/// each sequence, or every token if the engine computes all logits. The engine's row has the
/// factors. In an engine's pass at start, rows are its sequences, and each card has all logits
/// while it samples: vLLM 0.19 v1/worker/gpu_model_runner.py profile_run, _dummy_sampler_run.
/// Source: transformers 4.38 to 4.51 modeling_qwen2.py and llama.cpp's logged compute buffers,
/// which this matches to a few per cent. cells: cached tokens that a mask has a column for, once
/// for layers without a window and once for those with one. Source: llama.cpp llama-graph.cpp,
/// build_attn_inp_kq_mask. If one allocator plans the whole pass, GraphWidth replaces
/// widest_share * widest. MLA on latents then has heads * latent widths in place of two residual
/// copies. Logits stand beside two copies of the hidden state. Left out: rotary tables, masks of
/// other engines. Head::elsewhere: the card makes no logits. Head::returned: another card makes
/// them, and they are copied to this one, which had the input: rows * vocabulary * returned bytes.
/// Source: accelerate 1.15 hooks.py, AlignDevicesHook(io_same_device=True), which dispatch_model
/// puts on the model.
enum class Head : std::uint8_t { here, elsewhere, returned };
/// The side that runs a pass. Attention on a host copies nothing.
enum class Side : std::uint8_t { card, host };
/// The above with Head::here.
Bytes activations(const Scenario& scenario, Size tokens, Size shards, Side side = Side::card);

/// Tokens in the caches after prefill, of those that are reserved.
CachedTokens prompt_tokens(const Scenario& scenario, CachedTokens reserved);
inline CachedTokens prompt_tokens(const Scenario& s) {
  return prompt_tokens(s, reserved_tokens(s));
}

/// A token's share of activations() on one of `shards` cards, whatever the sizes are. Left out:
/// scores, masks and copies, which depend on sizes. Other rules of working memory stand with it.
struct TokenBytes {
  TokenBytes(const Scenario& scenario, Size shards);

  /// A cache that attention reads token by token, and that it masks or copies.
  struct Attended {
    const CacheClass* cache;
    Size window;    ///< stored_window()
    bool masked;    ///< columns of a mask stand for its tokens
    double copied;  ///< elements of one of its tokens in a layer that are copied
  };

  double element;                  ///< bytes of one
  double feed_forward, attention;  ///< bytes
  double heads;                    ///< on this card
  double score;                    ///< score_bytes()
  StartRules start;
  ChunkRule chunk;
  Bytes packing;    ///< while weights are loaded that are packed then
  Growth growth;    ///< how caches grow; without them: reserved
  Size layers;      ///< at least 1
  bool has_towers;  ///< images may take memory
  boost::container::small_vector<Attended, 2> attended;
};

/// Peak bytes besides weights and the largest caches, in prefill or the last decode step. An engine
/// that grows its caches has smaller ones during prefill, and old and new copies while they grow.
class WorkingMemory {
 public:
  /// `shards`: cards that split each matrix.
  WorkingMemory(const Scenario& scenario, Size shards)
      : WorkingMemory(scenario, shards, TokenBytes(scenario, shards), scenario.cached_tokens()) {}
  /// `context`: the scenario's cached_tokens().
  WorkingMemory(const Scenario& scenario, Size shards, const TokenBytes& token, Size context);
  /// `caches`: of this card at their largest; `prompt_caches`: once the prompts are in.
  Bytes operator()(Bytes caches, Bytes prompt_caches, Head head = Head::here) const;
  /// Bytes of only the largest pass on the host, as `activations`.
  Bytes of_host() const { return host_layers_ < head_ ? head_ : host_layers_; }
  /// True if caches are counted in it.
  bool grows() const { return growth_ != Growth::reserved; }

 private:
  Bytes layers_, head_, returned_;  ///< parts of the largest pass, from which activations() takes
                                    ///< the largest
  Bytes host_layers_;               ///< layers_ where they run on the host
  Bytes images_;                    ///< in addition to that pass, until its end
  Bytes others_;                    ///< in prefill, without that pass
  Bytes decode_;                    ///< if caches grow
  Bytes packing_;                   ///< TokenBytes::packing
  Bytes tying_;                     ///< while a head that is stored again is loaded
  Growth growth_;
  Size count_;  ///< TokenBytes::layers
};

/// Cosines and sines of every position, in 16 bit. If each of `layers` layers has its own: 2 *
/// positions * head width * layers * 2. If all share a table: half of one layer's. Sources:
/// transformers 4.38 modeling_qwen2.py, Qwen2RotaryEmbedding in every attention; vLLM 0.19
/// layers/rotary_embedding/base.py, _compute_cos_sin_cache and the cache of get_rope. Left out:
/// partly rotated heads.
Bytes rotary_tables(const Scenario& scenario, Size layers);

/// Bytes of kernels' buffers on a card in the allocator's count. cuBLAS uses 32 MiB on compute
/// capability 9.0 and 8.125 MiB on others (PyTorch, CUDA semantics, cuBLAS workspaces). Kernels for
/// 4-bit GPTQ unpack the largest matrix to 16 bit (exllamav2 q_matrix.cu, temp_dq). CUDA graphs
/// count too where they are within the engine's share of the card; without graphs (enforce_eager)
/// there are none.
class Workspace {
 public:
  Workspace(const Scenario& scenario, std::size_t card);
  /// `graphs`: graphs_in_share().
  Bytes with(double graphs) const { return rounded_up(buffers_ + graphs + unpacked_); }

 private:
  double buffers_ = 0, unpacked_ = 0;
};
Bytes workspace(const Scenario& scenario, std::size_t card);

}  // namespace headroom::model
