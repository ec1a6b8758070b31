#include "model/engine/runs_on.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/embedded.hpp"
#include "hardware/sorted_table.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {
namespace {

bool lists(const std::optional<std::vector<std::string_view>>& classes, const Model& model) {
  return !classes || is_listed(*classes, model);
}

/// True if the engine reads GGUF files, and some have the tensors of the model's class.
bool reads_gguf_of(const Engine& engine, const Model& model) {
  return engine.weights.holds(SchemeFamily::gguf) &&
         std::ranges::any_of(gguf_architectures(), [&](const GgufArchitecture& row) {
           return row.class_name == model.architecture;
         });
}

}  // namespace

bool runs_on(const Engine& engine, const Machine& machine) { return holds(engine.cards, machine); }

bool is_listed(const std::vector<std::string_view>& classes, const Model& model) {
  return std::ranges::binary_search(classes, model.architecture);
}

bool serves_class(const Engine& engine, const Model& model) {
  return (lists(engine.classes, model) || reads_gguf_of(engine, model)) &&
         (!model.encoder_decoder || lists(engine.encoder_decoders, model));
}

std::string class_warning(const Engine& engine, const Model& model) {
  if (engine.registry.empty()) return {};
  static const SortedTable table(embedded_models().content("engine_classes.tsv"));
  if (headroom::contains(table.row(model.architecture + '\t'), engine.registry)) return {};
  return fmt::format("{}'s registry lacks {}: it runs transformers' implementation, if that suits",
                     engine.registry, model.architecture);
}

ImageLimits image_limits(const Engine& engine) {
  return engine.weights.holds(SchemeFamily::gguf) ? ImageLimits::tokens : ImageLimits::processor;
}

std::vector<std::string_view> usual_precisions(const Engine& engine, const Machine& machine) {
  const auto has_no_units = [&](std::string_view name) {
    if (name == "auto" || scheme(name).family != SchemeFamily::fp4) return false;
    return machine.devices.empty() || !machine.devices.front().has_units(Arithmetic::fp4);
  };
  std::vector<std::string_view> names = engine.usual_precisions;
  std::erase_if(names, has_no_units);
  return names;
}

std::vector<std::string_view> asked_precisions(const Engine& engine, const Machine& machine,
                                               const Model& model) {
  std::vector<std::string_view> names = usual_precisions(engine, machine);
  if (!is_quantised(model) && !machine.devices.empty() &&
      holds(engine.asked_precisions_cards, machine))
    names.insert(names.end(), engine.asked_precisions.begin(), engine.asked_precisions.end());
  return names;
}

}  // namespace headroom::model
