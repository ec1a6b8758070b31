// Memory of one training step on the fullest card, term by term. Its scenario is separate from
// inference: they share only model and machine.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/checkpoint/adapter.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/attention_kernel.hpp"
#include "model/train/frozen_base.hpp"
#include "model/train/matrix_format.hpp"
#include "model/train/optimizer.hpp"
#include "model/train/recipe.hpp"

namespace headroom::model {

/// Degrees of parallelism, all at least 1.
struct Parallelism {
  Size replicas = 1;  ///< data parallel
  Size tensor = 1;    ///< cards that divide each matrix
  Size stages = 1;    ///< pipeline stages
  Size chunks = 1;    ///< chunks of layers on each stage (interleaved schedule)
  Size experts = 1;   ///< cards that spread the experts, a part of replicas * context
  Size context = 1;   ///< cards that divide the tokens of a sequence
  /// sequence parallelism: activations between parallel matrices are divided by tokens
  bool sequence = false;
  Size cards() const { return replicas * tensor * stages * context; }
  /// Cards with the same share of the dense weights.
  Size alike() const { return replicas * context; }
};

/// Layers [first, last) of a pipeline stage.
struct Stage {
  Size first = 0, last = 0;
  bool has_embedding = false, has_head = false;
};

/// Tokens of a sequence unless asked for: 2,048, or the model's positions if those are fewer.
Size usual_sequence(const Model& model);

/// Images of each sequence, all of one size.
struct ImagesOfSample {
  Size count = 0, patches = 0;
};

/// Rules of thumb by key that replace terms (model/train/factors.hpp).
using Factors = std::map<std::string, double, std::less<>>;

/// A training step with resolved names.
struct TrainingScenario {
  const Model* model = nullptr;
  const QuantisedModel* plain = nullptr;  ///< counted(model) of rank.hpp
  const QuantisedModel* base = nullptr;   ///< format of frozen weights; null: as the recipe says
  Size trained_copies =
      0;  ///< elements of modules trained in full besides adapters, at their frozen size
  /// products with a quantised base keep their inputs (bitsandbytes before 0.43)
  bool frozen_inputs = false;
  std::optional<LossKind> loss{};    ///< overrides the runtime's loss
  const Adapter* adapter = nullptr;  ///< null: every weight is trained
  const Optimizer* optimizer = nullptr;
  const Recipe* recipe = nullptr;
  const MatrixFormat* matrices = nullptr;  ///< null: 16 bit, or fp32 if the recipe says so
  const TrainingRuntime* runtime = nullptr;
  Size batch = 1, sequence = 2048;  ///< sequences of a pass, and tokens of each
  Size accumulated = 1;             ///< passes before a step (gradient accumulation)
  ImagesOfSample images{};          ///< none: text only; their tokens are part of `sequence`
  bool tower_frozen = false;        ///< the vision tower is not trained
  Size document = 0;                ///< tokens of each document in packed sequences; 0: no packing
  Parallelism parallel{};
  int zero = 0;  ///< ZeRO stage
  Recomputation recomputation = Recomputation::none;
  bool recomputation_given = false;  ///< a user says it: it stays whatever the recipe becomes
  AttentionKernel attention = AttentionKernel::sdpa;
  bool fused_loss = false;     ///< logits in chunks, never complete
  bool fused_kernels = false;  ///< Liger: norms, gating and rotation keep no intermediate results
  bool compiled = false;       ///< torch.compile: results that no operation needs are not kept
  bool head_loss = true;       ///< the loss covers the vocabulary (not a classification)
  double imbalance = 1;        ///< rows of the busiest card's experts relative to an even share
  bool bf16 = false;  ///< 16 bit is bf16 on all cards; false: fp16 on those without units for bf16
  bool optimizer_on_host = false, parameters_on_host = false;
  /// Each card loads all weights before ZeRO 3 divides them (accelerate: zero3_init_flag false).
  bool loads_whole = false;
  bool on_disk = false;  ///< offloaded data is on disk, with buffers in host memory
  Factors factors{};
  /// False: the scores of attention are kept.
  bool fuses_attention() const { return attention != AttentionKernel::eager; }
};

inline Trained trained_by(const TrainingScenario& s) {
  if (s.adapter == nullptr) return Trained::weights;
  return s.base != nullptr ? Trained::adapters_over_quantised : Trained::adapters;
}

/// Throws ImpossibleStep where the recipe is for a quantised base and there is none. Also where the
/// engine does not hold or divide the base like that.
void check_base(const TrainingScenario& s);

/// The moment of a step with the highest memory use.
enum class Peak : std::uint8_t { forward_end, backward_start, backward, step, load, sum };
std::string_view name_of(Peak peak);

/// Bytes on the fullest card. Host memory is counted separately.
struct TrainingEstimate {
  Bytes weights, master, gradients, states;
  Bytes attention, feed_forward, other;  ///< activations kept between forward and backward
  Bytes activations;                     ///< sum of the three
  Bytes recomputed;                      ///< activations of the layer being recomputed
  Bytes transient;                       ///< activation gradients in the widest layer
  Bytes loss;                            ///< at the peak
  Bytes gathered;                        ///< gathered parameters and gradients in transfer
  Bytes scratch;                         ///< 16-bit gradients besides the buffers, and workspaces
  Bytes step;                            ///< temporaries of the optimizer step
  Bytes context, fragmentation;
  Bytes at_forward_end, at_backward_start, in_backward, at_step, at_load;
  Bytes allocated;  ///< the largest of them
  Bytes reserved;   ///< with fragmentation
  Bytes peak;       ///< with the driver's context, as nvidia-smi shows it
  Bytes peak_low, peak_high;
  Bytes host, disk;
  Bytes gradients_on_host;       ///< gradients that move to the host as they are reduced
  Size trained = 0, frozen = 0;  ///< parameters of the model
  Size stage = 0;                ///< pipeline stage of the fullest card
  Size in_flight = 1;            ///< passes whose activations are kept
  Peak moment = Peak::backward_start;
  bool gradients_alive = true;  ///< at the peak
  /// Follows from shapes alone; the interval is of the rest (TrainingRuntime::spread).
  Bytes certain() const { return std::min(peak, weights + master + states); }
};

/// The terms of a step that follow from shapes of weights alone, on the fullest card. All of them
/// are alive when the optimizer steps, so a card needs at least their sum.
struct TrainingFloor {
  Bytes weights, master, gradients, states;
  Bytes host, disk;
  Size trained = 0;
  Bytes sum() const { return weights + master + gradients + states; }
};

/// Incompatible sizes. A sweep stores them as a refusal; a command reports an error.
class ImpossibleStep : public std::invalid_argument {
 public:
  ImpossibleStep(Reason why, const std::string& what) : std::invalid_argument(what), reason(why) {}
  Reason reason;
};

/// Includes every term in words. Throws ImpossibleStep, and std::invalid_argument for sizes below
/// one.
TrainingEstimate evaluate_training(const TrainingScenario& scenario);

}  // namespace headroom::model
