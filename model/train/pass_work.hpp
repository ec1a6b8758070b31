// Arithmetic and memory traffic of one training pass on a card: forward, backward and
// recomputation. model/train/time.hpp turns it into time.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// An amount, split by phase of a pass.
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

/// Work of one card of one stage.
struct PassWork {
  double tokens = 0;
  double routed = 0;     ///< elements that tokens bring to experts, all layers
  double again = 0;      ///< share of forward that is recomputed
  Phases matrices;       ///< FLOPs of the layers' matrices, without experts
  Phases experts;        ///< FLOPs of expert matrices
  Phases head;           ///< FLOPs of the head
  Phases attention;      ///< FLOPs of attention
  Phases made;           ///< bytes that the layers' operations write, without logits
  Phases logits;         ///< bytes of logits, written and read
  Phases weights;        ///< bytes of weights: read, unpacked, or used for norms (DoRA)
  Phases dense_kernels;  ///< kernels launched, relative to forward and backward of a dense layer
};
PassWork pass_work(const TrainingScenario& scenario, const StepShape& shape, Size stage);

/// Bytes that a forward of all layers moves for the row norms of DoRA, independent of tokens. Both
/// factors are multiplied through a unit matrix [in, in], which is written and read. For [out, in]:
/// the product is written, the frozen weight converted (or unpacked, then converted), the product
/// scaled, their sum written, and read for its norm. All are in the type of the inputs. Source:
/// PEFT 0.21 tuners/lora/dora.py, DoraLinearLayer.
double length_bytes(const TrainingScenario& scenario);

/// FLOPs of one pass's matrices in layers [first, last), on all cards that share them. A tower
/// multiplies patches; it does nothing without images.
double matrix_flops(const TrainingScenario& scenario, Size first, Size last);
/// The share of experts in matrix_flops.
double expert_flops(const TrainingScenario& scenario, Size first, Size last);
/// FLOPs of scores and values of one token, averaged over a sequence: 4 per dimension of all heads
/// and attended token.
double attention_flops(const TrainingScenario& scenario, Size first, Size last);
/// Backward FLOPs relative to forward, without adapters: gradients of inputs and of weights. Frozen
/// weights have no gradient.
inline double backward_products(const TrainingScenario& s) { return s.adapter != nullptr ? 1 : 2; }

}  // namespace headroom::model
