// Choices of a plan: models, machines, and the way to run each model on each machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hardware/price.hpp"
#include "sweep/best_way.hpp"
#include "sweep/options/options.hpp"
#include "sweep/plan/plan.hpp"

namespace headroom::sweep {

/// Owns what the combinations point to.
struct PlanStock {
  std::vector<std::unique_ptr<model::Model>> models;
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<std::shared_ptr<const model::QuantisedModel>> weights;
  std::vector<std::vector<Combination>> combinations;  ///< as Choices has them
  bool has_chosen_ways = false;     ///< engine or precision was left out and chosen
  bool has_chosen_weights = false;  ///< the precision was left out and chosen
  bool has_usual_context = false;   ///< nothing was said about tokens
  std::vector<std::string> assumed;
  std::vector<std::string> left_out;  ///< a line for each machine that runs none of the models
};

/// `operands`: names of models; empty: the catalogue's that generate. `request`: the point at which
/// ways are compared. `prices`: null if the question is not about money. Throws UsageError, and
/// what looking names up throws.
PlanStock stock_of(const Options& options, const Question& question,
                   const std::vector<std::string>& operands, const Engines& engines,
                   const model::Scenario& request, const model::Target& target,
                   const Catalogue& catalogue, const Prices* prices);

}  // namespace headroom::sweep
