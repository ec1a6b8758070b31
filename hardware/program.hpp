// Runs another program and captures its output. A time limit guards against driver tools that hang.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace headroom {

struct ProgramResult {
  enum class Outcome { finished, not_found, timed_out, failed } outcome = Outcome::not_found;
  int exit_code = 0;   ///< if it finished
  std::string output;  ///< stdout, truncated to 1 MiB
};

/// Runs `arguments[0]` from PATH, without a shell, with empty stdin and stderr discarded. Never
/// throws. Kills the program after `limit`.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds limit);

}  // namespace headroom
