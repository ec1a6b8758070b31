// The ways to run a model on a machine that a run has, an engine and a precision each, compared.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "model/answer/way_order.hpp"
#include "report/selection.hpp"

namespace headroom::report {

/// Words for model::WayRank, by its order: "fits", "tight", "offload", "does not fit", "refused".
std::span<const std::string_view> rank_words();
/// The rank of a way, and its words.
model::WayRank rank_of(const ModelRow& row);
std::string_view rank_words(const ModelRow& row);

/// True if the model runs in this way, on cards or not.
bool way_runs(const ModelRow& row);

/// True if everything is on cards, but memory may not suffice at the high end of its interval.
bool is_tight(const ModelRow& row);

/// Rows of one model on one machine, the best way first (model/answer/way_order.hpp). Rows of
/// precision `auto` that another one repeats are left out. So are other formats as wide as a
/// quantised checkpoint that the engine reads.
std::vector<const ModelRow*> ordered_ways(std::span<const ModelRow* const> here);

/// The first of ordered_ways(). `here` is not empty.
const ModelRow& best_way(std::span<const ModelRow* const> here);

}  // namespace headroom::report
