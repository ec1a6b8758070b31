// The figure of an estimate that a measurement is compared with.
#pragma once

#include <optional>
#include <string>

#include "model/infer/intervals.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// The runtime's 80 % interval of this kind of figure.
const model::Constant& interval_of(const ScoredRow& subject);
/// The displayed interval: wider for cards or weights without measurements.
model::Interval shown_interval(const ScoredRow& subject);

/// Measured over expected uncertain part of a figure of memory
/// (model/infer/placement/placement.hpp, uncertain_part), where `expected` is the whole figure.
/// None for figures that follow from shapes alone: they say nothing of the memory that an engine
/// works in.
std::optional<double> uncertain_ratio(const ScoredRow& subject, double expected);

/// Nothing where the program cannot estimate the scenario; `why` says why then. A reported run has
/// fitted. If the estimate says otherwise, the cards' memory limit is lifted and the figure is
/// estimated.
std::optional<double> predict(const ScoredRow& subject, std::string& why);

/// The plain baseline: weights and caches; or a roofline at the hardware's full rates, with no
/// overhead.
double plain(const ScoredRow& subject);
/// Seconds of one read of all weights from where they are, at the hardware's full rates and without
/// other work; 0 without an estimate.
double reading_weights(const ScoredRow& subject);

/// True if the scenario runs within budgets at `memory_factor` (as `place` has it): wholly on
/// cards, or with permitted offload.
bool runs(const model::Scenario& scenario, double memory_factor, bool may_offload);
/// Memory that it needs, as a share of the cards' budgets together.
double load_of(const model::Scenario& scenario);

}  // namespace headroom::sweep
