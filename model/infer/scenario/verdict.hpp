// The verdict of a point, its confidence, and the reason why it is not better.
#pragma once

#include <cstdint>
#include <string_view>

namespace headroom::model {

enum class Verdict : std::uint8_t {
  fits_one_gpu,
  fits_gpus,
  fits_cpu_offload,
  fits_disk_offload,
  does_not_fit,
  refused
};
/// True if the model fits somewhere: on cards, in host memory or on disk.
constexpr bool fits(Verdict verdict) { return verdict < Verdict::does_not_fit; }

/// Confidence that the model fits, decided on the interval: `no` is as sure as `yes`.
enum class Confidence : std::uint8_t { yes, marginal, no };

/// Why a point is not better than it is.
enum class Reason : std::uint8_t {
  none,
  gpu_memory,               ///< short on the cards
  ram,                      ///< short in host memory
  disk,                     ///< short on disk
  no_offload,               ///< the runtime keeps weights held like this wholly on cards
  heads_not_divisible,      ///< tensor parallelism does not divide the heads
  precision_unsupported,    ///< not held by this runtime or on this hardware
  context_too_long,         ///< beyond the model's positions, and the runtime refuses
  no_gpu,                   ///< the runtime needs one
  not_generative,           ///< the model writes no text: there is nothing to decode
  layers_not_divisible,     ///< fewer layers than pipeline stages
  not_enough_gpus,          ///< the parallel sizes ask for more cards than there are
  parallelism_unsupported,  ///< the runtime does not split that way
  cache_required,           ///< the runtime cannot generate without a KV cache
  widths_not_divisible,     ///< tensor parallelism does not divide some matrix of the layers
  groups_not_divisible,     ///< a card's part of a matrix is no whole number of quantisation groups
  vocabulary_not_divisible,  ///< tensor parallelism does not divide the padded vocabulary
  no_experts,                ///< expert parallelism of a model without experts
  experts_span_replicas,  ///< expert parallelism is over tensor × data parallel cards, all of them
  experts_not_divisible,  ///< training: expert parallelism does not divide experts, or replicas it
  tokens_not_divisible,   ///< training: context parallelism does not divide the sequence
  nothing_shared,         ///< training: ZeRO or its offload without cards to share out over
  passes_do_not_fill,     ///< training: fewer passes than stages of an interleaved pipeline
  cards_unsupported,      ///< the runtime has no kernels for cards of this maker
  model_unsupported,      ///< a class that the runtime does not run
  cache_unsupported,      ///< keys and values in a format that the runtime does not have
  experts_divide_cards,   ///< expert parallelism divides neither cards nor experts evenly
  layers_not_described,   ///< training: nobody described what a layer keeps for backward
  offload_unsupported,    ///< training: the engine does not move that to that place
  too_many_sequences,     ///< ServingPolicy::most_sequences
  attention_unsupported,  ///< training: flash-attn does not run attention like that
};

/// True if more memory of some kind would help.
constexpr bool is_of_memory(Reason reason) {
  using enum Reason;
  return reason == gpu_memory || reason == ram || reason == disk || reason == no_offload;
}

/// "fits_one_gpu", … as stored; and words for a reader.
std::string_view name_of(Verdict verdict);
std::string_view name_of(Confidence sure);
std::string_view name_of(Reason reason);

}  // namespace headroom::model
