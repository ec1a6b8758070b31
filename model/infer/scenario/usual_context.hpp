// The context of a request about whose tokens nothing was said.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// 8,192 tokens for all sequences together, as llama-server divides its context among them. It is
/// at least prompt and output, and at most the positions of `model`. 0, which means prompt and
/// output: the engine has a default of its own, or no cache grows with tokens that are generated.
Size usual_context(const Scenario& scenario, const Model& model);

/// As above whatever prompt and output are: a Scenario's `least_context`.
Size least_usual_context(const Scenario& scenario, const Model& model);

/// Sets the sequences of `scenario`. A `least_context` that it has becomes that of so many.
void set_batch(Scenario& scenario, Size batch);

}  // namespace headroom::model
