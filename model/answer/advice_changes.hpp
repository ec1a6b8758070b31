// Single changes of a scenario, for advice.cpp alone. Nothing: the change does not help.
#pragma once

#include <optional>

#include "model/answer/advice.hpp"

namespace headroom::model {

/// With no sequence of the batch that waits.
inline bool all_on_gpus(const Estimate& e) { return is_on_gpus(e) && e.queued == 0; }

/// True if `engine` holds weights of the scenario's model in `scheme` as they are on its machine.
/// It unpacks none of them.
bool holds_as_stored(const Scenario& scenario, const Engine& engine, const Scheme& scheme);

/// For a cache that the runtime refuses: the formats that it has, and the engines that have these.
Advice cache_formats(const Scenario& scenario);

std::optional<Advice> fewer_bits(const Scenario& scenario, Seconds now);
std::optional<Advice> usable_bits(const Scenario& scenario, const Estimate& estimate);
std::optional<Advice> narrower_cache(const Scenario& scenario);
/// Without towers, where the engine has an option for that and no images were asked for.
std::optional<Advice> text_only(const Scenario& scenario);
std::optional<Advice> shorter_context(const Scenario& scenario);
std::optional<Advice> smaller_batch(const Scenario& scenario);
/// A larger share of each card for an engine that takes a share.
std::optional<Advice> larger_share(const Scenario& scenario);
std::optional<Advice> more_cards(const Scenario& scenario);
std::optional<Advice> caches_off_cards(const Scenario& scenario);
std::optional<Advice> offload_elsewhere(const Scenario& scenario);
std::optional<Advice> without_cards(const Scenario& scenario);
/// The CPU alone, where it answers sooner than cards that wait for weights from host memory.
/// Weights that no kernel of a CPU runs are unpacked for it.
std::optional<Advice> on_cpu_alone(const Scenario& scenario, const Estimate& estimate);

}  // namespace headroom::model
