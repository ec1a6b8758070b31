// How requests come to a plan's machines, how long the slowest take, and which machines are spares.
#pragma once

#include <span>
#include <string>

#include "model/engine/measured_cards.hpp"
#include "sweep/plan/plan.hpp"

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

/// "a KV cache in q8_0 (--kv-precision) holds 40,960 tokens": the widest narrower format, where
/// memory limits the context. Else empty.
std::string narrower_cache_words(const Candidate& candidate);

/// A model in an engine on a machine, of which times may have been measured.
struct RunningWay {
  const model::Engine& engine;
  const Machine& machine;
  const model::QuantisedModel& weights;
};
inline RunningWay running_way(const Candidate& c) { return {*c.engine, *c.machine, *c.weights}; }
/// Measured times behind the engine, the weights and the machine's first card.
model::MeasuredTimes measured_of(const RunningWay& way);
/// "38 rows", "other cards" or "no", for a column.
std::string measured_words(const RunningWay& way);
/// "times of such weights under vllm on h100-sxm-80gb: 38 rows of 5 sources".
std::string measured_line(const RunningWay& way);

/// "3 machines, 1 to spare: the figures hold without".
std::string spares_words(const Candidate& candidate);

}  // namespace headroom::sweep
