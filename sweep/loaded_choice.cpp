#include "sweep/loaded_choice.hpp"

#include "model/engine/loaded_scheme.hpp"

namespace headroom::sweep {

const model::Scheme& scheme_of_choice(const Choice& choice, const Choice& engine,
                                      const Choice& machine) {
  const model::Scenario& own = choice.decides;
  return model::loaded_scheme(*choice.model, choice.scheme,
                              *(own.runtime ? own.runtime : engine.decides.runtime),
                              *(own.machine ? own.machine : machine.decides.machine));
}

bool is_as_published(const Choice& choice, const Choice& engine, const Choice& machine) {
  Choice checkpoint = choice;
  checkpoint.scheme = nullptr;
  return choice.decides.weights->scheme == &scheme_of_choice(checkpoint, engine, machine);
}

bool load_differently(const std::vector<Choice>& models, const std::vector<Choice>& engines,
                      const std::vector<Choice>& machines, LoadedBy by) {
  const bool by_engine = by == LoadedBy::engine;
  for (const Choice& model : models)
    for (const Choice& rest : by_engine ? machines : engines)
      for (const Choice& value : by_engine ? engines : machines) {
        const auto on = [&](const Choice& each) {
          return by_engine ? &scheme_of_choice(model, each, rest)
                           : &scheme_of_choice(model, rest, each);
        };
        if (on(value) != on((by_engine ? engines : machines).front())) return true;
      }
  return false;
}

}  // namespace headroom::sweep
