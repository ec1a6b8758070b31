// The parts of a layer, each read off the modules below it by the names that published code gives
// them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/layers/subtree.hpp"

namespace headroom::model::layers {

AttentionSpec read_attention(const Subtree& tree, const AttentionQuirks& quirks);
FeedForwardSpec read_feed_forward(const Subtree& tree, const LayerQuirks& quirks);
/// Rows of the first matrix in a list of low-rank additions; 0: there are none.
Size adapter_rank(const Subtree& tree, Names lists);
/// None where the modules are of no mixer that is known.
std::optional<MixerSpec> read_mixer(const Subtree& tree, const MixerQuirks& quirks);

/// Streams of residuals of width `hidden`, whose joints are the modules `names`.
std::optional<StreamsSpec> read_streams(const Subtree& tree, Names names, Size hidden);
std::optional<HashedSpec> read_hashed(const Subtree& tree);

/// The halves of the layer at `path`, each as a layer without lists; none where it has no lists.
std::vector<Part> listed_halves(const Part& part, const Subtree& tree, std::string_view path);

/// Reads the positions of a layer's norms.
void read_norms(const Subtree& tree, LayerSpec& layer);

/// A module (or tensor) of which it is not known what the layer does with it; empty: none.
std::string unknown_module(const Subtree& tree, const LayerSpec& layer);

}  // namespace headroom::model::layers
