// Working memory of forward passes at inference.
#pragma once

#include "model/infer/memory/kv_cache.hpp"

namespace headroom::model {

/// Tokens of the largest pass: the whole prompt of the batch, or the runtime's chunk of it; where
/// the engine makes a pass of its own at start, of that one, whatever the prompts are.
Size pass_tokens(const Scenario& scenario);
/// Sequences of the engine's own pass at start, unless it is told to run more; 0: it makes none.
Size usual_sequences(const Scenario& scenario);
/// Bytes of one attention score with its copies; 0: they never stand in memory all at once.
Size score_bytes(const Scenario& scenario);
/// Tokens of a prefill pass at most; 0: the whole prompt at once.
Size prefill_chunk(const Scenario& scenario);
/// The same of all sequences together, as the engine is started on these cards.
Size batched_tokens(const Scenario& scenario);

/// Most bytes that a pass over `tokens` keeps at once, on one of `shards` cards that split each
/// matrix: the largest of
///
///   feed-forward  tokens * (residual_copies * hidden + widest_share * widest / shards) * element
///   attention     tokens * (residual_copies * hidden * element + heads / shards * keys * score)
///   logits        tokens * hidden * element + rows * vocabulary / shards * logit
///
/// hidden: residual stream, of which the engine holds several states; widest: elements per token
/// that the widest submodule keeps (gate, up and their product); keys: tokens that attention looks
/// at, where its scores stand in memory (no flash attention); rows: the last position of each
/// sequence, or every token where the engine makes all logits. The engine's row has the factors.
/// Of an engine's pass at start the rows are its sequences, and each card has all logits while it
/// draws tokens: vLLM 0.19 v1/worker/gpu_model_runner.py profile_run, _dummy_sampler_run.
/// Source: transformers 4.38 to 4.51 modeling_qwen2.py and llama.cpp's logged compute buffers,
/// which this gives to a few per cent. Left out: masks, rotary tables.
/// Head::elsewhere: the card makes no logits. Head::returned: another card makes them, and they are
/// copied to this one, where the input came: rows * vocabulary * returned bytes. Source: accelerate
/// 1.15 hooks.py, AlignDevicesHook(io_same_device=True), which dispatch_model puts on the model.
enum class Head : std::uint8_t { here, elsewhere, returned };
Bytes activations(const Scenario& scenario, Size tokens, Size shards, Head head = Head::here);

/// Most bytes that the vision tower keeps at once, on one of `shards` cards:
///
///   patches * (residual_copies * hidden + widest_share * widest / shards) * element
///
/// patches: of all images of all sequences, or of one sequence where prompts go through in chunks
/// and images are encoded as they are met; at least those of an engine's pass at start, which has
/// as many of the largest images as a pass has tokens for, one at least, and keeps their embeddings
/// beside the rest of that pass (vLLM 0.11 v1/worker/gpu_model_runner.py profile_run,
/// v1/core/encoder_cache_manager.py compute_encoder_budget); hidden and widest: of the tower.
/// Source: as activations. Left out: windows, the resampled pixels, rotated copies in fp32,
/// features of several layers that are kept (Llama-3.2-Vision).
Bytes tower_activations(const Scenario& scenario, Size shards);

/// What the caches hold once the prompts are in.
CachedTokens prompt_tokens(const Scenario& scenario);

/// Most bytes beside weights and the caches at their largest: in prefill or the last decode step.
/// An engine that grows its caches holds fewer of them during prefill, and old and new side by side
/// while they grow.
class WorkingMemory {
 public:
  /// `shards`: cards that split each matrix.
  WorkingMemory(const Scenario& scenario, Size shards);
  /// `caches`: of this card at their largest; `prompt_caches`: once the prompts are in.
  Bytes operator()(Bytes caches, Bytes prompt_caches, Head head = Head::here) const;
  /// Of the largest pass alone, as `activations`.
  Bytes of_pass() const { return layers_ < head_ ? head_ : layers_; }
  /// Whether caches are counted in it at all.
  bool grows() const { return growth_ != Growth::reserved; }

 private:
  Bytes layers_, head_, returned_;  ///< of the largest pass: what activations() is the largest of
  Bytes images_;                    ///< beside that pass until its end
  Bytes others_;                    ///< in prefill, apart from that pass
  Bytes decode_;                    ///< where caches grow
  Bytes tying_;                     ///< while a head that is stored again is loaded
  Growth growth_;
  Size count_;  ///< layers
};

/// Cosines and sines of every position, in 16 bit: where each of `layers` layers holds them for
/// itself 2 * positions * head width * layers * 2, where all share a table half of one layer's.
/// Sources: transformers 4.38 modeling_qwen2.py, Qwen2RotaryEmbedding in every attention; vLLM 0.19
/// layers/rotary_embedding/base.py, _compute_cos_sin_cache and the cache of get_rope. Left out:
/// heads that are rotated in part.
Bytes rotary_tables(const Scenario& scenario, Size layers);

/// Bytes of kernels' buffers in the allocator's count: cuBLAS takes 32 MiB on compute capability
/// 9.0 and 8.125 MiB on others (PyTorch, CUDA semantics, cuBLAS workspaces); kernels for GPTQ in 4
/// bit unpack the largest matrix to 16 bit (exllamav2 q_matrix.cu, temp_dq).
Bytes workspace(const Scenario& scenario, std::size_t card);

}  // namespace headroom::model
