// What a measurement says of where weights and caches are.
#pragma once

#include <memory>
#include <optional>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

/// The first of `keys` that the settings give as a number.
std::optional<double> figure(const Measurement& row, std::initializer_list<std::string_view> keys);

/// The options of llama.cpp that place layers, experts and single tensors (-ngl, -nkvo, -ub,
/// --cpu-moe, --n-cpu-moe, -ot), as settings or as flags; of engines whose experts stay in host
/// memory, those of all layers but a share on the card ("28 of 128 experts on the card"); of
/// programs that stream weights, caches that are in host memory. Null: the engine decides. Throws
/// Skipped for caches on disk, and for patterns that match nothing.
std::unique_ptr<model::LayerSplit> layer_split_of(const Measurement& row,
                                                  const model::Scenario& scenario);

/// Parts of the batch that go through each layer in turn: 3 of "gbs=48x3", where the engine has
/// any.
Size batch_parts_of(const Measurement& row, const model::Scenario& scenario);

/// How many layers a row leaves on cards, where the engine is one that streams: "gpu_layers=10";
/// none where all weights are offloaded. Nothing: as many as fit.
std::optional<Size> layers_on_cards(const Measurement& row, const model::Scenario& scenario);

}  // namespace headroom::sweep
