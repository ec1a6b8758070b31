// Every command of the program.
#pragma once

#include <span>

#include "sweep/commands/command.hpp"

namespace headroom::sweep {

/// In the order in which `headroom --help` lists them.
std::span<const Command* const> commands();

}  // namespace headroom::sweep
