// Runs another program for its output, with a time limit, so that a hanging driver tool cannot hang
// us.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace headroom {

struct ProgramResult {
  enum class Outcome { finished, not_found, timed_out, failed } outcome = Outcome::not_found;
  int exit_code = 0;   ///< where it finished
  std::string output;  ///< stdout, at most 1 MiB of it
};

/// Runs `arguments[0]`, found on PATH, with no shell and an empty stdin; stderr is dropped.
/// Never throws. After `limit` the program is killed.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          std::chrono::milliseconds limit);

}  // namespace headroom
