// Arithmetic and memory traffic of one training pass on a card: forward, backward and
// recomputation. model/train/time.hpp turns it into time.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// A phase of a pass.
enum class StepPhase : std::uint8_t { forward, backward, recomputation };
inline constexpr StepPhase step_phases[] = {StepPhase::forward, StepPhase::backward,
                                            StepPhase::recomputation};

/// An amount of a pass, split by phase. `Amount`: Flops, RealBytes, or double for a plain number.
template <class Amount>
struct Phases {
  Amount forward{}, backward{}, again{};  ///< again: recomputation
  constexpr Amount sum() const { return forward + backward + again; }
  constexpr Amount in(StepPhase phase) const {
    return phase == StepPhase::forward ? forward : phase == StepPhase::backward ? backward : again;
  }
};
template <class Amount>
constexpr Phases<Amount> operator*(Amount of_forward, const Phases<double>& p) {
  return {of_forward * p.forward, of_forward * p.backward, of_forward * p.again};
}
template <class Amount>
constexpr Phases<Amount> operator+(const Phases<Amount>& a, const Phases<Amount>& b) {
  return {a.forward + b.forward, a.backward + b.backward, a.again + b.again};
}
template <class Amount>
constexpr Phases<Amount> operator-(const Phases<Amount>& a, const Phases<Amount>& b) {
  return {a.forward - b.forward, a.backward - b.backward, a.again - b.again};
}

/// Work of one card of one stage.
struct PassWork {
  double tokens = 0;
  double routed = 0;       ///< elements that tokens bring to experts, all layers
  double again = 0;        ///< share of forward that is recomputed
  Phases<Flops> matrices;  ///< the layers' matrices, without experts
  Phases<Flops> experts;   ///< expert matrices
  Phases<Flops> head;
  Phases<Flops> attention;
  Phases<RealBytes> made;        ///< written by the layers' operations, without logits
  Phases<RealBytes> logits;      ///< written and read
  Phases<RealBytes> weights;     ///< read, unpacked, or used for norms (DoRA)
  Phases<double> dense_kernels;  ///< launched, relative to forward and backward of a dense layer
};
PassWork pass_work(const TrainingScenario& scenario, const StepShape& shape, Size stage);

/// Bytes that a forward of all layers moves for the row norms of DoRA, independent of tokens. Both
/// factors are multiplied through a unit matrix [in, in], which is written and read. For [out, in]:
/// the product is written, and the frozen weight is converted (after unpacking, if packed). The
/// product is scaled, their sum is written, and the norm reads it. All are in the type of the
/// inputs. Source: PEFT 0.21 tuners/lora/dora.py, DoraLinearLayer.
RealBytes length_bytes(const TrainingScenario& scenario);

/// FLOPs of one pass's matrices in layers [first, last), on all cards that share them. A tower
/// multiplies patches; it does nothing without images.
Flops matrix_flops(const TrainingScenario& scenario, Size first, Size last);
/// As above for all layers, on all cards, those that share the sequences included.
Flops all_matrix_flops(const TrainingScenario& scenario);
/// The share of experts in matrix_flops.
Flops expert_flops(const TrainingScenario& scenario, Size first, Size last);
/// FLOPs of scores and values of one token, averaged over a sequence: 4 per dimension of all heads
/// and attended token.
Flops attention_flops(const TrainingScenario& scenario, Size first, Size last);
/// Backward FLOPs relative to forward, without adapters: gradients of inputs and of weights. Frozen
/// weights have no gradient.
inline double backward_products(const TrainingScenario& s) { return s.adapter != nullptr ? 1 : 2; }

}  // namespace headroom::model
