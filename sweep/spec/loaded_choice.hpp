// The weights of a grid's choices as engines load them on machines.
#pragma once

#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// The engine of a choice of models, or that of others where it decides none.
const model::Engine& engine_of(const Choice& choice, const Choice& engine);

/// The scheme in memory of a choice of models, with the engine and machine of others where it
/// decides none (model/engine/loaded_scheme.hpp).
const model::Scheme& scheme_of_choice(const Choice& choice, const Choice& engine,
                                      const Choice& machine);

/// True if the weights of `choice` are what its engine makes of the checkpoint, whether that was
/// asked for by name or not. `engine`, `machine`: as above.
bool is_as_published(const Choice& choice, const Choice& engine, const Choice& machine);

/// The axis of which load_differently() compares the values.
enum class LoadedBy { engine, machine };

/// True if some engines, or some machines, load one of the `models` differently.
bool load_differently(const std::vector<Choice>& models, const std::vector<Choice>& engines,
                      const std::vector<Choice>& machines, LoadedBy by);

}  // namespace headroom::sweep
