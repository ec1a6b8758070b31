#include "sweep/screen/published_note.hpp"

#include <fmt/format.h>

#include <boost/algorithm/string/predicate.hpp>
#include <cmath>
#include <string_view>
#include <vector>

#include "hardware/quantity_text.hpp"
#include "model/engine/loaded_weights.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

constexpr double worth_a_note = 0.02;

/// The model's own checkpoint, and quantised ones of the catalogue whose names are its name and
/// more, whoever published them: "nvidia/Qwen3-32B-NVFP4" of "Qwen/Qwen3-32B".
std::vector<model::Model> published(const model::Model& m) {
  const auto after_owner = [](std::string_view name) { return name.substr(name.find('/') + 1); };
  const std::string start = fmt::format("{}-", after_owner(m.name));
  std::vector<model::Model> all{m};
  for (model::Model& found : catalogue_models_of(m.architecture, [&](std::string_view name) {
         return boost::algorithm::istarts_with(after_owner(name), start);
       }))
    if (is_quantised(found)) all.push_back(std::move(found));
  return all;
}

bool is_by_name(model::SchemeFamily family) {
  using enum model::SchemeFamily;
  return family == fp4 || family == fp8 || family == awq || family == gptq ||
         family == compressed_tensors;
}

}  // namespace

std::optional<std::string> published_note(const model::Scenario& s, const model::Estimate& e) {
  const model::Scheme& asked = *s.weights->scheme;
  const model::Model& m = *s.weights->model;
  if (!is_by_name(asked.family) || asked.name == m.checkpoint_scheme) return std::nullopt;
  for (const model::Model& each : published(m)) {
    const model::Scheme* held = model::find_scheme(each.checkpoint_scheme);
    if (held == nullptr || held->format != asked.format ||
        each.profile.parameters != m.profile.parameters)
      continue;
    const model::QuantisedModel weights = loaded_weights(each, *held, *s.runtime);
    if (!weights.refusal.empty()) continue;
    const double ratio = weights.total.real() / s.weights->total.real();
    if (std::abs(ratio - 1) < worth_a_note) continue;
    model::Scenario with = s;
    with.weights = &weights;
    const bool fits_so = fits(evaluate(with));
    const auto verdict = fits_so == fits(e) ? "" : fits_so ? ", and fit" : ", and do not fit";
    return fmt::format("{} has {} matrices in {}: its weights take {}, not {}{}",
                       each.name == m.name ? "the checkpoint itself (--precision auto)" : each.name,
                       ratio > 1 ? "fewer" : "more", asked.name, to_text(weights.total),
                       to_text(s.weights->total), verdict);
  }
  return std::nullopt;
}

}  // namespace headroom::sweep
