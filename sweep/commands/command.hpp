// A command of the program: what it says of itself, and what it does.
#pragma once

#include <span>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Exit code of a command (interface.md). Errors are thrown and become `failed` or `usage` in main.
enum ExitCode { done = 0, failed = 1, usage = 2, answer_is_no = 3 };

struct Command {
  CommandHelp help;
  int (*run)(const Options&);
};

extern const Command params_command, estimate_command, place_command, sweep_command, report_command,
    hardware_command, models_command, runtimes_command, doctor_command, plan_command,
    launch_command, accuracy_command, curve_command, calibrate_command, diff_command, merge_command,
    prune_command, completion_command, man_command;

inline constexpr std::string_view usual_exit_codes =
    "0 done\n1 failed: a file, a config or an output that cannot be read or written\n"
    "2 usage: an option, a name or a spec that is not understood";

}  // namespace headroom::sweep
