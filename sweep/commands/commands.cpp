#include "sweep/commands/commands.hpp"

namespace headroom::sweep {
namespace {

constexpr const Command* all_commands[] = {
    &params_command,      // exact parameter counts
    &estimate_command,    // one point
    &place_command,       // device maps
    &curve_command,       // speed against memory
    &sweep_command,       // a whole grid into a database
    &plan_command,        // the inverse questions
    &launch_command,      // ready configurations
    &report_command,      // tables and curves from a database
    &diff_command,        // changes between two runs, with causes
    &merge_command,       // shards into one run
    &prune_command,       // old runs removed
    &models_command,      // the catalogue of models
    &hardware_command,    // the catalogue of devices and hosts
    &runtimes_command,    // the engines and their constants
    &calibrate_command,   // constants by one's own measurements
    &accuracy_command,    // estimates against measurements
    &doctor_command,      // abilities of this machine
    &completion_command,  // scripts for shells
    &man_command,         // the manual
};

}  // namespace

std::span<const Command* const> commands() { return all_commands; }

}  // namespace headroom::sweep
