// Result of `headroom curve` for each precision and runtime: the estimate of every GPU allocation,
// the limit of useful memory, and a recommendation.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/answer/allocation_curve.hpp"
#include "report/curve.hpp"
#include "report/table.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// The curve of one precision on one runtime.
struct CurveLine {
  model::Scenario scenario;  ///< without a budget of its own
  std::string label;         ///< "bf16, llama.cpp", what tells it from the others
  std::vector<model::AllocationPoint> points;
  report::Curve drawn;                     ///< these points with knee and jumps, for figures
  std::optional<std::size_t> first;        ///< first point that runs; none: nothing does
  std::optional<std::size_t> diminished;   ///< from where a GiB more adds next to nothing
  std::optional<std::size_t> recommended;  ///< none: nothing runs
  std::string reason;                      ///< why that one, or why none
};

/// Budgets from 0 up to the scenario's own, by `step` bytes or, without, by layers. Throws
/// std::invalid_argument for a machine without cards and for a model that generates nothing.
CurveLine curve_line(const model::Scenario& scenario, std::string label, std::optional<Bytes> step);

/// Why a point does not run: "GPU memory is short by 3.1 GiB", "refused: the engine does not
/// support this precision".
std::string why_not_words(const model::Estimate& estimate);
/// The change at a point, in words: "last layer", "2 GPUs"; empty: no change.
std::string jump_words(const CurveLine& line, std::size_t point);
/// "gpu 0: 0-12; cpu: 13-31; disk: 32-47".
std::string layers_words(const model::Profile& profile, const model::AllocationPoint& point);
/// "layers in order", "all layers on GPUs, experts of 24 in host memory".
std::string strategy_words(const CurveLine& line, const model::AllocationPoint& point);

report::Figure figure_of(const GivenScenario& given, const std::vector<CurveLine>& lines);
/// At most about 30 lines of at most 100 columns for one line.
std::string curve_screen(const GivenScenario& given, const std::vector<CurveLine>& lines,
                         std::span<const std::string> notes);
/// Every finding, and more points.
std::string curve_text(const GivenScenario& given, const std::vector<CurveLine>& lines);
boost::json::object curve_object(const GivenScenario& given, const std::vector<CurveLine>& lines);
/// A row a point, lines one after the other.
report::Table curve_table(const std::vector<CurveLine>& lines);

}  // namespace headroom::sweep
