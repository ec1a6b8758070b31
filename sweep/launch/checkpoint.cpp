#include "sweep/launch/checkpoint.hpp"

#include <fmt/format.h>

#include "model/engine/loaded_scheme.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

bool is_plain(std::string_view scheme) {
  return model::scheme(scheme).family == model::SchemeFamily::plain;
}

/// A model of the catalogue whose checkpoint is `model` in `scheme`: of that name with an ending,
/// with as many parameters. Empty: there is none.
std::string published_copy(const model::Model& model, std::string_view scheme) {
  const std::string beginning = std::string(short_model_name(model.name)) + '-';
  const auto source = catalogue_source();
  for (const std::string& name : catalogue_models()) {
    if (!short_model_name(name).starts_with(beginning)) continue;
    const auto copy = source->find({.name = name, .overrides = {}});
    if (copy && copy->checkpoint_scheme == scheme &&
        copy->profile.parameters == model.profile.parameters)
      return name;
  }
  return {};
}

/// Empty: none is known.
std::string name_of(const LaunchPoint& point, bool made) {
  const model::Model& model = point.model();
  const std::string& own = model.repository.empty() ? model.name : model.repository;
  const std::string_view asked = point.scheme().name, held = model.checkpoint_scheme;
  if (asked == held) return own;
  if (is_plain(held) && (made || is_plain(asked))) return own;
  const model::Scenario& s = point.scenario;
  if (is_plain(asked) && model::loading_of(model, model::scheme(held), *s.runtime,
                                           model::computing_machine(s)) == model::Loading::unpacked)
    return own;
  return published_copy(model, asked);
}

}  // namespace

Checkpoint::Checkpoint(const LaunchPoint& point, bool made)
    : name_(name_of(point, made)),
      wanted_(fmt::format("name a checkpoint in {}", point.scheme().name)) {}

std::string Checkpoint::note() const {
  return name_.empty() ? fmt::format("# CHECKPOINT=org/name must {}.\n", wanted_) : "";
}

std::string Checkpoint::word() const {
  return name_.empty() ? fmt::format("\"${{CHECKPOINT:?{}}}\"", wanted_) : shell_quoted(name_);
}

std::string Checkpoint::in_python() const {
  if (!name_.empty()) return python_quoted(name_);
  return fmt::format("os.environ.get(\"CHECKPOINT\") or exit({})",
                     python_quoted("CHECKPOINT: " + wanted_));
}

}  // namespace headroom::sweep
