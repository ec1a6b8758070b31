#include "sweep/plan/smaller_model.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "model/answer/placement/strategy.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// Smaller ones of the same organisation and architecture, the largest first.
std::vector<model::Model> smaller(const model::Model& m) {
  std::vector<model::Model> all;
  const auto organisation = m.name.substr(0, m.name.find('/') + 1);
  if (organisation.empty()) return all;
  const auto others = [&](std::string_view name) {
    return name.starts_with(organisation) && name != m.name;
  };
  for (model::Model& found : catalogue_models_of(m.architecture, others))
    if (found.profile.parameters < m.profile.parameters) all.push_back(std::move(found));
  std::ranges::sort(all, std::greater{},
                    [](const model::Model& each) { return each.profile.parameters; });
  return all;
}

}  // namespace

std::optional<model::Advice> smaller_model(const model::Scenario& scenario,
                                           const model::Estimate& estimate, bool own_precision) {
  if (is_on_gpus(estimate) || estimate.verdict == model::Verdict::refused ||
      scenario.machine->devices.empty() || scenario.draft != nullptr ||
      scenario.layer_split != nullptr)
    return {};
  for (const model::Model& m : smaller(*scenario.weights->model)) {
    const model::Scheme& held =
        model::loaded_scheme(m, own_precision ? nullptr : scenario.weights->scheme,
                             *scenario.runtime, *scenario.machine);
    const model::QuantisedModel weights = loaded_weights(m, held, *scenario.runtime);
    if (!weights.refusal.empty()) continue;
    model::Scenario s = scenario;
    s.weights = &weights;
    if (scenario.default_context() > 0) s.context = scenario.cached_tokens();
    if (!s.within_positions()) continue;
    const model::Estimate e = evaluate(s);
    if (!is_on_gpus(e)) continue;
    return model::Advice{.kind = model::Advice::Kind::other_model,
                         .then = model::after_change(e),
                         .name = held.name,
                         .after = weights.total,
                         .text = m.name};
  }
  return {};
}

}  // namespace headroom::sweep
