// A model on named cards, and its times.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/throughput.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {

/// A model on named cards.
struct SpeedCase : test::OnCards {
  using OnCards::OnCards;
  double step(Size cached) const {
    return decode_step(s, place(s, 1.0), {.self = cached}).total.value();
  }
  double first(Size prompt) const { return prefill(s, place(s, 1.0), prompt).total.value(); }
};

}  // namespace headroom::model
