#include "sweep/smaller_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "model/answer/placement/strategy.hpp"
#include "model/engine/default_scheme.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// Smaller ones of the same organisation and architecture, the largest first.
std::vector<model::Model> smaller(const model::Model& m) {
  std::vector<model::Model> all;
  const auto organisation = m.name.substr(0, m.name.find('/') + 1);
  if (organisation.empty()) return all;
  for (const auto& name : catalogue_models()) {
    if (!name.starts_with(organisation) || name == m.name) continue;
    auto found = catalogue_source()->find(parse_reference(name));
    if (found && found->architecture == m.architecture &&
        found->profile.parameters < m.profile.parameters)
      all.push_back(std::move(*found));
  }
  std::ranges::sort(all, std::greater{},
                    [](const model::Model& each) { return each.profile.parameters; });
  return all;
}

}  // namespace

std::string smaller_model(const model::Scenario& scenario, const model::Estimate& estimate,
                          bool own_precision) {
  if (is_on_gpus(estimate) || estimate.verdict == model::Verdict::refused ||
      scenario.machine->devices.empty() || scenario.draft != nullptr ||
      scenario.layer_split != nullptr)
    return {};
  for (const model::Model& m : smaller(*scenario.weights->model)) {
    const model::Scheme& held =
        own_precision ? model::default_scheme(m, *scenario.runtime) : *scenario.weights->scheme;
    const model::QuantisedModel weights = quantise(m, held);
    if (!weights.refusal.empty()) continue;
    model::Scenario s = scenario;
    s.weights = &weights;
    const model::Estimate e = evaluate(s);
    if (!is_on_gpus(e)) continue;
    const auto gb = [](Bytes bytes) { return bytes.real().value() / 1e9; };
    return fmt::format("or {} in {}: {:.1f} GB, fits on {} GPU{} with {:.1f} GB, {:.1f} ms a token",
                       m.name, held.name, gb(weights.total), e.gpus_used,
                       e.gpus_used == 1 ? "" : "s", gb(e.gpu_bytes), 1e3 * e.tpot.value());
  }
  return {};
}

}  // namespace headroom::sweep
