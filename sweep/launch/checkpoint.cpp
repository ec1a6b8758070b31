#include "sweep/launch/checkpoint.hpp"

#include <fmt/format.h>

#include "model/engine/loaded_scheme.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

bool is_plain(std::string_view scheme) {
  return model::scheme(scheme).family == model::SchemeFamily::plain;
}

/// A model of the catalogue whose checkpoint is `model` in `scheme`: of that name with an ending,
/// with as many parameters. Empty: there is none.
std::string published_copy(const model::Model& model, std::string_view scheme) {
  const std::string beginning = std::string(short_name(model.name)) + '-';
  const auto source = catalogue_source();
  for (const std::string& name : catalogue_models()) {
    if (!short_name(name).starts_with(beginning)) continue;
    const auto copy = source->find({.name = name, .overrides = {}});
    if (copy && copy->checkpoint_scheme == scheme &&
        copy->profile.parameters == model.profile.parameters)
      return name;
  }
  return {};
}

/// The request to the user.
std::string wanted(const LaunchPoint& point) {
  return fmt::format("name a checkpoint of {} in {}", point.model().name, point.scheme().name);
}

}  // namespace

std::string served_checkpoint(const LaunchPoint& point, bool made) {
  const model::Model& model = point.model();
  const model::Scheme& scheme = point.scheme();
  const std::string& own = model.repository.empty() ? model.name : model.repository;
  if (scheme.name == model.checkpoint_scheme) return own;
  const bool plain_file = is_plain(model.checkpoint_scheme);
  if (plain_file && (made || is_plain(scheme.name))) return own;
  const model::Scenario& s = point.scenario;
  if (is_plain(scheme.name) &&
      model::loading_of(model, model::scheme(model.checkpoint_scheme), *s.runtime, *s.machine) ==
          model::Loading::unpacked)
    return model.name;
  return published_copy(model, scheme.name);
}

std::string checkpoint_note(const LaunchPoint& point, bool made) {
  if (!served_checkpoint(point, made).empty()) return {};
  return fmt::format("# CHECKPOINT=org/name must {}.\n", wanted(point));
}

std::string checkpoint_word(const LaunchPoint& point, bool made) {
  const std::string name = served_checkpoint(point, made);
  return name.empty() ? fmt::format("\"${{CHECKPOINT:?{}}}\"", wanted(point)) : shell_quoted(name);
}

std::string checkpoint_in_python(const LaunchPoint& point, bool made) {
  const std::string name = served_checkpoint(point, made);
  if (!name.empty()) return python_quoted(name);
  return fmt::format("os.environ.get(\"CHECKPOINT\") or exit({})",
                     python_quoted("CHECKPOINT: " + wanted(point)));
}

}  // namespace headroom::sweep
