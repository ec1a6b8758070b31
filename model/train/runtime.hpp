// Training runtimes as rows: how each holds weights, gradients and states, which kernels run, what
// the loss keeps, what is on its way between cards, and what lies beside all that.
#pragma once

#include <span>
#include <string_view>

#include "model/engine/runtime.hpp"
#include "model/train/matrix_format.hpp"
#include "model/train/recipe.hpp"

namespace headroom::model {

/// How a runtime makes the loss, hence what logits take.
enum class LossKind : std::uint8_t {
  whole,     ///< fp32 copy, fp32 log-probabilities, two fp32 gradients on the way back
  compiled,  ///< one kernel: log-probabilities are made again, the gradient is the logits' type
  in_place,  ///< Transformer Engine: the gradient takes the logits' place
  pieces,    ///< logits whole, the loss piece by piece: fp32 log-probabilities kept, copies not
  chunked,   ///< Liger: head and loss together, logits of one chunk at a time
};

/// What selective recomputation makes again.
enum class Selective : std::uint8_t {
  attention,         ///< scores, softmax and dropout of attention (Megatron)
  but_every_2nd_mm,  ///< all but every second matrix product and attention's output (torchtitan)
};

struct TrainingRuntime {
  std::string_view name, source;
  std::string_view recipe;          ///< of full training where states are not shared out
  std::string_view shared_recipe;   ///< where they are
  int zero = 0;                     ///< states are shared out at least as far as ZeRO's stage
  Size adapter_bytes = 4;           ///< of an adapter's element
  bool adapter_inputs_fp32 = true;  ///< an adapter's input is converted to its own type
  bool adapter_dropout = false;     ///< a dropped copy of it, with its mask, is kept instead
  MatrixPackage matrices = MatrixPackage::none;  ///< where layers multiply below 16 bit
  bool own_layers = false;  ///< model code of its own: torch's kernels for activations
  LossKind loss = LossKind::whole;
  bool outputs_held = false;    ///< logits stay alive during backward
  bool logits_raised = false;   ///< and are held in fp32 between forward and loss's end
  bool fused_kernels = false;   ///< norms, gating and rotation keep no steps between
  bool loads_whole = false;     ///< where weights are shared out, each card first holds all of them
  Size subgroup_elements = 0;   ///< gradients are stepped on in pieces of so many; 0: all at once
  bool zero_alone = false;      ///< ZeRO is possible on one card: nothing is shared, buckets are
  bool fused_step = false;      ///< the optimizer steps without temporaries
  bool gradients_kept = false;  ///< gradient buffers live from the start to the end of the run
  bool gradient_scratch = false;   ///< one 16-bit gradient of each shape of matrix beside them
  bool sequence_parallel = false;  ///< by default, where tensors are parallel
  Size vocabulary_multiple = 1;    ///< times the tensor-parallel cards: rows are padded to it
  Selective selective = Selective::attention;
  bool stops_early = false;      ///< a layer is made again up to the last result that is kept
  Size reduce_elements = 0;      ///< of the buckets in which gradients are reduced, all together
  Size gather_layers = 2;        ///< whole at once where weights are shared out
  bool fetches_modules = false;  ///< weights that are shared out are fetched module by module
  bool ends_stay = false;        ///< embedding and head stay gathered through a pass
  Size step_gradient_bytes = 0;  ///< fp32 copy of the gradients that are stepped on
  Bytes workspace{};             ///< of matrix libraries, through torch's allocator
  Constant context_bytes;        ///< driver context, libraries and collectives, each card
  Constant spread{1, 0.8, 1.25, 0, "unmeasured"};  ///< measured peaks over estimated ones
  Constant fragmentation;  ///< reserved beside what is allocated, as a share of what comes and
                           ///< goes in a step
};

std::span<const TrainingRuntime> training_runtimes();
/// Throws UnknownName with the nearest names.
const TrainingRuntime& training_runtime(std::string_view name);

/// How weights are held where nothing is said: beside adapters frozen in 16 bit, else as the
/// runtime does, by what is shared out.
const Recipe& usual_recipe(const TrainingRuntime& runtime, int zero, bool adapters);

/// The row as it would be if no run of it had been measured.
TrainingRuntime without_measurements(TrainingRuntime row);

}  // namespace headroom::model
