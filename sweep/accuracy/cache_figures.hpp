// Figures that an engine logs of its KV cache at start: its memory, the bytes of a token, and the
// longest requests that fit.
#pragma once

#include <optional>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// Lines of an engine's log as it starts. No constant is fitted to them.
bool is_of_start_log(Statistic statistic);

/// The figure as the engine reckons it. Bytes of a token are those of one sequence of the row's
/// length, divided by that length; vLLM 0.33 v1/core/kv_cache_utils.py get_kv_cache_capacity logs
/// tokens so. Nothing where no memory is left, or the engine takes only what it needs.
std::optional<double> cache_figure(const ScoredRow& subject, const model::Scenario& scenario);

/// The uncertain part of what the engine's share of the card has besides that cache, in bytes; the
/// share itself is known. Nothing as above.
std::optional<double> uncertain_beside_cache(const ScoredRow& subject);

}  // namespace headroom::sweep
