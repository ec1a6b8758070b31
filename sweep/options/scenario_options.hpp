// One point as flags describe it, with everything that it points to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hardware/machine.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/factors.hpp"
#include "sweep/options/engine_options.hpp"
#include "sweep/options/extra_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/options/options.hpp"
#include "sweep/options/speculation.hpp"
#include "sweep/options/split_options.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {

/// Flags of a point, without those of machine_options.hpp.
#define HEADROOM_POINT_FLAGS                                                              \
  HEADROOM_SPLIT_FLAGS                                                                    \
  " " HEADROOM_ENGINE_FLAGS                                                               \
  " "                                                                                     \
  "precision kv-precision cache-type-k cache-type-v batch prompt-tokens output-tokens "   \
  "context seq no-kv-cache "                                                              \
  "gpu-budget gpu-memory-utilization ram-budget disk-budget engines runtime tp pp ep dp " \
  "offline factors set"
/// Every flag that this file reads.
#define HEADROOM_SCENARIO_FLAGS HEADROOM_POINT_FLAGS " model hub-token load-full-model"

/// A scenario and what its pointers point to. `on_machine` false: no machine was given, and the
/// scenario's stands in for one without limits, so that only what memory is needed means anything.
struct GivenScenario {
  std::shared_ptr<const Engines> engines;
  std::unique_ptr<model::Model> model;
  std::unique_ptr<model::QuantisedModel> weights;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<model::LayerSplit> layer_split;  ///< null: the runtime decides
  std::unique_ptr<GivenDraft> draft;               ///< null: none
  std::optional<model::ServedAdapters> adapters;   ///< among the weights
  bool on_machine = true;
  std::optional<FreeMemory> free;    ///< free memory of this computer, if it is the machine
  std::vector<std::string> assumed;  ///< assumptions about the machine and a custom model
  std::string asked;                 ///< MODEL and flags as they were given, for another command
  std::vector<Way> ways;             ///< compared ways, the scenario's first; empty: none were
  model::Scenario scenario;
};

/// True if flags say how many tokens a cache holds, or that requests differ in length. Otherwise
/// the context is usual_context().
bool says_context(const Options& options);

/// Batch, tokens, caches and runtime; model, weights and machine are left to the caller. The
/// scenario points into `engines`. Throws UsageError and UnknownName.
model::Scenario request_of(const Options& options, const Engines& engines);

/// The point of the one MODEL that is given, or of `model`. Throws UsageError and what looking
/// names up throws.
GivenScenario scenario_of(const Options& options);
GivenScenario scenario_of(const Options& options, const std::string& model);

}  // namespace headroom::sweep
