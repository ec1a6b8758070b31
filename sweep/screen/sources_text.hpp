// The sources of an answer's figures: --sources.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// A figure and its source.
struct FigureSource {
  std::string figure, source;
};

/// Sources in the order in which they come, each once, with the figures that are from it. Lines
/// have at most screen_width columns. A figure without a source is left out.
std::string sources_text(std::span<const FigureSource> figures);

/// Terms by their names in words: "gpu 0 weights".
std::vector<FigureSource> sources_of(std::span<const model::Term> terms);

/// The model's shape, each card and the host, the engine's policies, the terms, and the measured
/// rows behind the intervals.
std::vector<FigureSource> sources_of(const GivenScenario& given,
                                     const model::Explanation& explained);

}  // namespace headroom::sweep
