// Training runtimes as rows: how each stores weights, gradients and states, which kernels run, what
// the loss keeps, communication buffers, and overheads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "model/train/matrix_format.hpp"
#include "model/train/recipe.hpp"

namespace headroom::model {

/// How a runtime computes the loss. It determines the memory of logits.
enum class LossKind : std::uint8_t {
  whole,     ///< fp32 copy, fp32 log-probabilities, two fp32 gradients in backward
  compiled,  ///< one kernel: log-probabilities are recomputed, the gradient has the logits' type
  in_place,  ///< Transformer Engine: the gradient replaces the logits
  pieces,    ///< complete logits, loss in pieces: fp32 log-probabilities are kept, copies are not
  chunked,   ///< Liger: head and loss together, logits of one chunk at a time
};

/// The parts of a layer that selective recomputation recomputes.
enum class Selective : std::uint8_t {
  attention,         ///< scores, softmax and dropout of attention (Megatron)
  but_every_2nd_mm,  ///< all except every second matrix product and attention's output (torchtitan)
};

/// The activations that the backward pass computes anew. `offloaded`: all, from the layers' inputs
/// in host memory, which move beside the computation (unsloth_zoo 2026.10
/// gradient_checkpointing.py Unsloth_Offloaded_Gradient_Checkpointer).
enum class Recomputation : std::uint8_t { none, selective, full, offloaded };
inline constexpr std::array<std::string_view, 4> recomputation_names = {"none", "selective", "full",
                                                                        "offloaded"};
/// True if layers keep nothing but their inputs.
constexpr bool recomputes_layers(Recomputation how) { return how >= Recomputation::full; }

/// ZeRO stages from which an engine moves data out of a card's memory.
struct Offloads {
  static constexpr int never = 4;  ///< beyond ZeRO's stages
  int states = 0;                  ///< optimizer states to host memory
  int disk = never;                ///< weights and states to disk
  bool together = false;           ///< weights and states, or neither
};

struct TrainingRuntime {
  std::string_view paced_as() const { return paced.empty() ? name : paced; }
  std::string_view name, source;
  std::string_view recipe;         ///< for full training without sharded states
  std::string_view shared_recipe;  ///< with sharded states
  int zero = 0;                    ///< minimum ZeRO stage
  Size adapter_bytes = 4;          ///< bytes of an adapter element
  /// an adapter's input is kept in its own type: no autocast makes a 16-bit copy
  bool adapter_inputs_fp32 = true;
  bool adapter_dropout = false;  ///< a dropped copy with its mask is kept instead
  /// types of models whose adapted matrices of one input run in one kernel (adapter_kept.hpp)
  std::span<const std::string_view> fused_adapters{};
  MatrixPackage matrices = MatrixPackage::none;  ///< for layers that multiply below 16 bit
  bool own_layers = false;  ///< own model code: torch's kernels for activations
  LossKind loss = LossKind::whole;
  bool outputs_held = false;       ///< logits stay alive during backward
  bool logits_raised = false;      ///< logits are in fp32 from forward to the end of the loss
  bool fused_kernels = false;      ///< norms, gating and rotation keep no intermediate results
  bool gates_in_place = false;     ///< gradients of gate and up overwrite them
  bool windows_in_kernel = false;  ///< attention's kernel takes sliding windows: no mask exists
  bool sinks_in_kernel = false;    ///< … and attention sinks: no scores are kept
  bool takes_sinks() const { return sinks_in_kernel || own_layers; }
  /// PEFT prepares a quantised base: its norms, embeddings and head are in fp32 (recipe "raised")
  bool raises_base = false;
  bool modules_alone = false;  ///< QLoRA leaves stacked experts in 16 bit (modules_alone.hpp)
  bool loads_whole = false;    ///< with sharded weights, each card first loads all of them
  Size subgroup_elements = 0;  ///< elements updated at a time; 0: all at once
  bool zero_alone = false;     ///< ZeRO works on one card: nothing is sharded, but buckets exist
  bool zero_by_deepspeed = false;  ///< DeepSpeed does the work of a ZeRO stage
  Offloads offload{};
  int zero_with_tensor = 3;     ///< highest ZeRO stage beside tensor parallelism
  std::string_view paced{};     ///< the runtime whose time constants count; empty: its own
  bool fused_step = false;      ///< the optimizer needs no temporaries
  bool gradients_kept = false;  ///< gradient buffers exist during the whole run
  int gradient_buffer_from = Offloads::never;  ///< ... from this ZeRO stage on
  bool gradient_scratch = false;               ///< plus one 16-bit gradient for each matrix shape
  bool sequence_parallel = false;              ///< default with tensor parallelism
  Size vocabulary_multiple = 1;  ///< rows are padded to this multiple of the tensor-parallel cards
  Selective selective = Selective::attention;
  Recomputation recomputation = Recomputation::none;  ///< unless a user says otherwise
  bool stops_early = false;      ///< recomputation of a layer stops at the last result that is kept
  Size reduce_elements = 0;      ///< total of the buckets that reduce gradients
  Size gather_layers = 2;        ///< layers gathered at once with sharded weights
  bool fetches_modules = false;  ///< sharded weights are fetched module by module
  bool embedding_and_head_stay = false;  ///< embedding and head stay gathered during a pass
  Size step_gradient_bytes = 0;          ///< fp32 copy of the gradients for the update
  Bytes workspace{};                     ///< memory of matrix libraries, from torch's allocator
  Constant context_bytes;                ///< driver context, libraries and collectives on each card
  /// measured over expected bytes of a peak beyond weights, master copies and states
  Constant spread{1, 0.84, 1.32, 0, "unmeasured"};
  /// reserved beyond allocated memory, as a share of the memory that a step allocates and frees
  Constant fragmentation;
};

std::span<const TrainingRuntime> training_runtimes();
/// Throws UnknownName with the nearest names.
const TrainingRuntime& training_runtime(std::string_view name);

/// The row for a ZeRO stage. transformers' Trainer and LLaMA-Factory hand it to DeepSpeed, whose
/// buckets, fetches and kernels count then (transformers 5.23 integrations/deepspeed.py).
const TrainingRuntime& under_zero(const TrainingRuntime& asked, int zero);

/// True if DeepSpeed does the work: the row of that name, or one that under_zero() returns.
inline bool runs_deepspeed(const TrainingRuntime& runtime) {
  return runtime.paced_as() == "deepspeed";
}

/// The row without the effect of its measurements.
TrainingRuntime without_measurements(TrainingRuntime row);

}  // namespace headroom::model
