// Memory of one training step on the fullest card, term by term: a scenario of its own beside
// inference's, since the two share a model and a machine and nothing else.
#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/checkpoint/adapter.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/matrix_format.hpp"
#include "model/train/optimizer.hpp"
#include "model/train/recipe.hpp"
#include "model/train/runtime.hpp"

namespace headroom::model {

enum class Recomputation : std::uint8_t { none, selective, full };

/// How many cards share what. All at least 1.
struct Parallelism {
  Size replicas = 1;      ///< data parallel
  Size tensor = 1;        ///< cards that divide each matrix
  Size stages = 1;        ///< of the pipeline
  Size chunks = 1;        ///< of layers on each stage (interleaved schedule)
  Size experts = 1;       ///< cards that spread the experts, taken from replicas * context
  Size context = 1;       ///< cards that divide the tokens of a sequence
  bool sequence = false;  ///< what lies between parallel matrices is divided by tokens too
  Size cards() const { return replicas * tensor * stages * context; }
  /// Cards that hold the same share of the dense weights.
  Size alike() const { return replicas * context; }
};

/// Layers [first, last) of one stage of the pipeline.
struct Stage {
  Size first = 0, last = 0;
  bool has_embedding = false, has_head = false;
};

/// Images of each sequence, all of one size.
struct ImagesOfSample {
  Size count = 0, patches = 0;
};

/// Rules of thumb by key, in place of terms (model/train/factors.hpp).
using Factors = std::map<std::string, double, std::less<>>;

/// One training step with its names resolved.
struct TrainingScenario {
  const Model* model = nullptr;
  const QuantisedModel* plain = nullptr;  ///< counted(model) of rank.hpp
  const QuantisedModel* base = nullptr;   ///< how frozen weights are held; null: as the recipe says
  Size trained_copies =
      0;  ///< elements of modules trained whole beside adapters, as frozen ones are
  bool frozen_inputs = false;  ///< products with a quantised base keep their inputs (bitsandbytes
                               ///< before 0.43)
  std::optional<LossKind> loss{};    ///< another than the runtime's
  const Adapter* adapter = nullptr;  ///< null: every weight is trained
  const Optimizer* optimizer = nullptr;
  const Recipe* recipe = nullptr;
  const MatrixFormat* matrices = nullptr;  ///< null: in 16 bit, or fp32 where the recipe is
  const TrainingRuntime* runtime = nullptr;
  Size batch = 1, sequence = 2048;  ///< sequences of a pass, tokens of each
  Size accumulated = 1;             ///< passes before a step
  ImagesOfSample images{};    ///< none: text alone; the context's share of them is in `sequence`
  bool tower_frozen = false;  ///< the vision tower's weights are not trained
  Size document = 0;          ///< tokens of those that sequences are packed from; 0: each is one
  Parallelism parallel{};
  int zero = 0;  ///< ZeRO stage: what replicas share out
  Recomputation recomputation = Recomputation::none;
  bool fused_attention = true;
  bool fused_loss = false;     ///< logits in chunks, never whole
  bool fused_kernels = false;  ///< Liger: norms, gating and rotation keep no steps between
  bool compiled = false;       ///< torch.compile: what no operation needs is not kept
  bool head_loss = true;       ///< the loss is over the vocabulary (not a classification)
  double imbalance = 1;        ///< rows of the busiest card's experts over an even share
  bool optimizer_on_host = false, parameters_on_host = false;
  bool on_disk = false;  ///< what is not on cards lies on disk, with buffers in host memory
  Factors factors{};
};

/// The moment of a step at which most is in use.
enum class Peak : std::uint8_t { forward_end, backward_start, backward, step, load, sum };
std::string_view name_of(Peak peak);

/// Bytes on the fullest card. What the host holds instead is apart.
struct TrainingEstimate {
  Bytes weights, master, gradients, states;
  Bytes attention, feed_forward, other;  ///< activations kept between forward and backward
  Bytes activations;                     ///< the three together
  Bytes recomputed;                      ///< of the layer that is being made again
  Bytes transient;                       ///< gradients of activations in the widest layer
  Bytes loss;                            ///< at the moment that decides
  Bytes gathered;                        ///< parameters gathered, gradients on the way
  Bytes scratch;                         ///< 16-bit gradients beside the buffers, workspaces
  Bytes step;                            ///< temporaries of the optimizer's step
  Bytes context, fragmentation;
  Bytes at_forward_end, at_backward_start, in_backward, at_step, at_load;
  Bytes allocated;  ///< the largest of them
  Bytes reserved;   ///< with fragmentation
  Bytes peak;       ///< with the driver's context, as nvidia-smi shows it
  Bytes peak_low, peak_high;
  Bytes host, disk;
  Size trained = 0, frozen = 0;  ///< parameters of the model
  Size stage = 0;                ///< of the pipeline that the fullest card belongs to
  Size in_flight = 1;            ///< passes whose activations it keeps
  Peak moment = Peak::backward_start;
  bool gradients_alive = true;  ///< at that moment
};

/// Sizes that do not go together: what a sweep keeps as a refusal, and a command line as an error.
class ImpossibleStep : public std::invalid_argument {
 public:
  ImpossibleStep(Reason why, const std::string& what) : std::invalid_argument(what), reason(why) {}
  Reason reason;
};

/// With every term in words. Throws ImpossibleStep, and std::invalid_argument for sizes below one.
TrainingEstimate evaluate_training(const TrainingScenario& scenario);

}  // namespace headroom::model
