// Speculative decoding: tokens are proposed, and the model checks them in one pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom::model {

struct QuantisedModel;

/// The source of proposed tokens.
enum class Proposer : std::uint8_t {
  model,    ///< a smaller model
  modules,  ///< the checkpoint's own modules that predict further tokens (MTP)
  head,     ///< layers over hidden states of the model, trained for it (EAGLE-3)
  block,    ///< such layers that propose all tokens in one pass (DFlash)
  lookup,   ///< text that came before (n-gram): no weights
};

struct Draft {
  const QuantisedModel* weights = nullptr;  ///< null: Proposer::lookup
  Size tokens = 5;                          ///< proposed in each step
  double acceptance = 0;  ///< chance that a token is kept if those before it are; at most 1
  Proposer proposer = Proposer::model;
  Size modules = 1;  ///< Proposer::modules: each proposes one token in turn
};

/// Draft::acceptance as measured, with an 80 % interval.
struct Acceptance {
  double low = 0, expected = 0, high = 0;
  Size sources = 0;  ///< 0: nothing was measured
};

/// One measurement: `length` tokens that a step gives, the checked one included, with `tokens`
/// proposed.
struct AcceptanceRow {
  Proposer proposer;
  Size tokens;
  double length;
  std::string_view model, source;
};

/// The acceptance a for which k proposed tokens give `length` tokens a step (see tokens_per_step).
double acceptance_of(Size tokens, double length);
/// The acceptance with which `share` of all k proposed tokens is kept, as engines log it: vLLM's
/// accepted by drafted tokens (v1/spec_decode/metrics.py).
inline double acceptance_of_share(Size tokens, double share) {
  return acceptance_of(tokens, 1 + static_cast<double>(tokens) * share);
}

/// Mean and interval of the measured rows of a proposer. Logits of each source's mean are taken
/// as normal: the interval is mean +- t * deviation * sqrt(1 + 1 / sources) with Student's t, so
/// that few sources make it wide.
Acceptance measured_acceptance(Proposer proposer);

}  // namespace headroom::model
