// What the points of a block have in common: scenarios that differ in sizes (batch, tokens) and
// budgets alone.
#pragma once

#include "model/infer/placement/setup.hpp"
#include "model/infer/timeline/speeds.hpp"

namespace headroom::model {

/// Worked out once for all of them. One thread at a time.
struct Block {
  explicit Block(const Scenario& any) : setup(any), speeds(any) {}

  Setup setup;
  Speeds speeds;  ///< of the cards that were used so far
};

}  // namespace headroom::model
