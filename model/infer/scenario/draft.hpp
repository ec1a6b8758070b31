// Speculative decoding: a smaller model proposes tokens, and the model checks them in one pass.
#pragma once

#include "hardware/units.hpp"

namespace headroom::model {

struct QuantisedModel;

struct Draft {
  const QuantisedModel* weights = nullptr;
  Size tokens = 5;        ///< proposed in each step
  double acceptance = 0;  ///< share of proposed tokens that are kept, each independently; at most 1
};

}  // namespace headroom::model
