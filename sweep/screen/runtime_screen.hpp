// Engines as people read them first: what each runs on, what it decides, how much is measured.
#pragma once

#include <string>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::sweep {

/// A field of an engine's policy as its row has it.
std::string policy_text(const model::Engine& engine, std::string_view policy, std::string_view key);

/// A line for each engine: its newest row. Older versions are counted.
std::string runtimes_screen();
/// Policies that decide memory, placement and speed under one engine, without its constants.
std::string runtime_screen(const model::Engine& engine);

}  // namespace headroom::sweep
