// Fewer cards, or fewer requests at once, that would do better than those that were asked for.
#pragma once

#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// A line where some of the machine's cards serve more than all of them, and one where fewer
/// requests at once do. More of either should help, so a screen says where it does not. Weights and
/// engine stay, unless they were left open: then one box, or cards of one kind, may have others.
/// A line also names fewer cards that run a model which does not run on all of them. Another names
/// replicas of an attention whose cache tensor parallelism copies to every card. option_notes()
/// come first. One says where each request gets less than people read.
std::vector<std::string> fewer_notes(const Options& options, const GivenScenario& given,
                                     const model::Estimate& estimate);

/// True if fewer of the machine's cards serve more with the same engine and weights.
bool fewer_cards_serve_more(const model::Scenario& scenario, const model::Estimate& estimate);

}  // namespace headroom::sweep
