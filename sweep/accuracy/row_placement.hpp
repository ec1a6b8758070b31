// The places of weights and caches of a canonical row.
#pragma once

#include <memory>
#include <optional>

#include "model/infer/scenario/layer_split.hpp"
#include "sweep/accuracy/measurement.hpp"
#include "sweep/options/options.hpp"

namespace headroom::model {
struct Scenario;
}

namespace headroom::sweep {

/// The columns of `row` that are flags of `estimate`, as if they had been on a command line.
Options options_of(const Measurement& row);

/// The split that the row's flags, `ubatch` and `experts_on_card` describe. Null: the engine
/// decides. Throws Skipped for flags that have no effect on the row's engine, model or machine.
std::unique_ptr<model::LayerSplit> layer_split_of(const Measurement& row, const Options& options,
                                                  const model::Scenario& scenario);

/// Number of layers that the row leaves on cards of an engine that streams weights. Nothing: as
/// many as fit.
std::optional<Size> layers_on_cards(const Measurement& row, const model::Scenario& scenario);

}  // namespace headroom::sweep
