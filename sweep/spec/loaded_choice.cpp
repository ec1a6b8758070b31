#include "sweep/spec/loaded_choice.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"

namespace headroom::sweep {

const model::Engine& engine_of(const Choice& choice, const Choice& engine) {
  return *(choice.decides.runtime ? choice.decides.runtime : engine.decides.runtime);
}

const model::Scheme& scheme_of_choice(const Choice& choice, const Choice& engine,
                                      const Choice& machine) {
  const model::Scenario &own = choice.decides, &other = machine.decides;
  model::Scenario computing;
  computing.machine = own.machine ? own.machine : other.machine;
  for (const Bytes budget : {other.gpu_budget, own.gpu_budget})
    if (budget >= Bytes(0)) computing.gpu_budget = budget;
  return model::loaded_scheme(*choice.model, choice.scheme, engine_of(choice, engine),
                              model::computing_machine(computing));
}

bool is_as_published(const Choice& choice, const Choice& engine, const Choice& machine) {
  Choice checkpoint = choice;
  checkpoint.scheme = nullptr;
  return choice.decides.weights->scheme == &scheme_of_choice(checkpoint, engine, machine);
}

namespace {

/// The first choice of each value that `of` reads: others of a digit differ in what it does not
/// read.
template <class Of>
std::vector<const Choice*> one_of_each(const std::vector<Choice>& choices, Of of) {
  std::set<decltype(of(choices.front()))> seen;
  std::vector<const Choice*> all;
  for (const Choice& choice : choices)
    if (seen.insert(of(choice)).second) all.push_back(&choice);
  return all;
}

}  // namespace

bool load_differently(const std::vector<Choice>& models, const std::vector<Choice>& engines,
                      const std::vector<Choice>& machines, LoadedBy by) {
  const bool by_engine = by == LoadedBy::engine;
  const auto runtimes = one_of_each(engines, [](const Choice& c) { return c.decides.runtime; });
  const auto places = one_of_each(machines, [](const Choice& c) {
    return std::pair(c.decides.machine, c.decides.gpu_budget == Bytes(0));
  });
  for (const Choice& model : models) {
    const bool decided =
        by_engine ? model.decides.runtime != nullptr : model.decides.machine != nullptr;
    if (decided) continue;
    for (const Choice* rest : by_engine ? places : runtimes) {
      const auto on = [&](const Choice* each) {
        const Choice& engine = by_engine ? *each : *rest;
        const model::Scheme& scheme = scheme_of_choice(model, engine, by_engine ? *rest : *each);
        const model::Engine& loads = engine_of(model, engine);
        return std::pair(&scheme, loaded_form(loads, *model.model, scheme));
      };
      const auto& values = by_engine ? runtimes : places;
      const auto first = on(values.front());
      if (std::ranges::any_of(values, [&](const Choice* each) { return on(each) != first; }))
        return true;
    }
  }
  return false;
}

}  // namespace headroom::sweep
