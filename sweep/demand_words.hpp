// How requests come to a plan's machines, how long the slowest take, and which machines are spares.
#pragma once

#include <span>
#include <string>

#include "model/engine/measured_cards.hpp"
#include "sweep/plan.hpp"

namespace headroom::sweep {

/// "requests arrive at random, …"; empty where a fixed number of them is always there.
std::string arrivals_words(const model::Target& target);

/// The facts that the cost of `machine` lacks, in the way that lacks least: "2x l40s: no price of
/// …". Empty where one way has a cost.
std::string missing_words(const Prices& prices, const Machine& machine,
                          std::span<const model::Acquisition> ways);

/// "first token at p95 ~1.6 s (0.64 s–4 s), …"; empty where nothing of the slowest was asked. Under
/// a strict target the figures are the high ends themselves.
std::string slowest_words(const Candidate& candidate, const model::Target& target);

/// Measured times behind the candidate's engine, weights and first card.
model::MeasuredTimes measured_of(const Candidate& candidate);
/// "38 rows of this card" or "other cards" or "none", for a column.
std::string measured_words(const Candidate& candidate);
/// "measured on h100-sxm-80gb with such weights under vllm: 38 rows of 5 sources".
std::string measured_line(const Candidate& candidate);

/// "3, 1 of them to spare: …".
std::string spares_words(const Candidate& candidate);

}  // namespace headroom::sweep
