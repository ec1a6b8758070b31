// What one pass of a training step multiplies, reads and writes on a card, forward, backward and
// what is made again. How long that takes is in model/train/time.hpp.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// An amount by the part of a pass that it is of.
struct Phases {
  double forward = 0, backward = 0, again = 0;  ///< again: recomputation
  double sum() const { return forward + backward + again; }
};
inline Phases operator*(double times, Phases p) {
  return {times * p.forward, times * p.backward, times * p.again};
}
inline Phases operator+(Phases a, Phases b) {
  return {a.forward + b.forward, a.backward + b.backward, a.again + b.again};
}

/// Of one card of one stage.
struct PassWork {
  double tokens = 0;
  double routed = 0;     ///< elements that tokens bring to experts, all layers
  double again = 0;      ///< share of forward that is made again
  Phases matrices;       ///< FLOPs of the matrices of layers, those of experts left out
  Phases experts;        ///< FLOPs of the matrices that tokens are routed to
  Phases head;           ///< of the head's matrix
  Phases attention;      ///< of attention's products
  Phases made;           ///< bytes that operations of layers write, beside logits
  Phases logits;         ///< bytes of logits, written and read
  Phases weights;        ///< bytes of weights, read, unpacked or measured (DoRA)
  Phases dense_kernels;  ///< kernels launched, in those of a dense layer there and back
};
PassWork pass_work(const TrainingScenario& scenario, const StepShape& shape, Size stage);

/// Bytes that a forward of all layers moves for the lengths of DoRA's rows, whatever the tokens:
/// both factors are multiplied out through a unit matrix [in, in] that is written and read, and of
/// [out, in] the product is written, the frozen weight converted (or unpacked, then converted), the
/// product scaled, their sum written, and read for its norm; all in the type of the inputs (PEFT
/// 0.21 tuners/lora/dora.py, DoraLinearLayer).
double length_bytes(const TrainingScenario& scenario);

/// FLOPs of one pass's matrices in layers [first, last), on all cards that divide them: a tower
/// multiplies patches, and none where there are no images.
double matrix_flops(const TrainingScenario& scenario, Size first, Size last);
/// Of them, those of experts.
double expert_flops(const TrainingScenario& scenario, Size first, Size last);
/// FLOPs of scores and values of one token, on average over a sequence: 4 per dimension of all
/// heads and token looked at.
double attention_flops(const TrainingScenario& scenario, Size first, Size last);
/// Of forward, without adapters: gradients of inputs and of weights; frozen weights have none.
inline double backward_products(const TrainingScenario& s) { return s.adapter != nullptr ? 1 : 2; }

}  // namespace headroom::model
