// The whole program, given its arguments.
#pragma once

#include <string>
#include <vector>

namespace headroom::sweep {

/// Runs the command that `arguments` name, without the program's own name. Returns the exit code.
/// Never throws: every error becomes words on standard error.
int run_program(std::vector<std::string> arguments);

}  // namespace headroom::sweep
