// A block of points: scenarios that differ in sizes (batch, tokens) and budgets alone. Here is all
// that they have in common.
#pragma once

#include "model/infer/placement/setup.hpp"
#include "model/infer/timeline/speeds.hpp"

namespace headroom::model {

/// Worked out once for all of them. One thread at a time.
struct Block {
  explicit Block(const Scenario& any) : setup(any), speeds(any) {}

  Setup setup;
  Speeds speeds;  ///< those of cards that were used so far
};

}  // namespace headroom::model
