// Latency and throughput under load, as rows of a table and as JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "model/infer/estimate.hpp"
#include "model/infer/traffic.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

#define HEADROOM_TRAFFIC_FLAGS "prompt-tokens-p95 output-tokens-p95"

/// Prompts and outputs by --prompt-tokens and --output-tokens, the medians where a 95th percentile
/// is given too. None for an engine that does not batch continuously, or where nothing is generated
/// or fits on cards. Throws UsageError: a percentile below its median, or without effect.
std::optional<model::Traffic> traffic_of(const Options& options, const model::Scenario& scenario,
                                         const model::Estimate& estimate);

/// True if requests differ in length.
bool has_spread(const model::Traffic& traffic);

/// "1,470 output tokens/s (823 to 1,850) for 64 at once".
std::string traffic_rate(const model::Traffic& traffic, const model::Scenario& scenario,
                         const model::Estimate& estimate);
/// `few` leaves out the rates of a GPU and of a user, which the others give.
enum class TrafficRows { few, all };
std::string traffic_lines(const model::Traffic& traffic, const model::Scenario& scenario,
                          const model::Estimate& estimate, TrafficRows shown);
boost::json::object traffic_object(const model::Traffic& traffic, const model::Scenario& scenario,
                                   const model::Estimate& estimate);

}  // namespace headroom::sweep
