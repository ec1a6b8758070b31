// The table of contents: every command of the program, and the only place where errors become words
// and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "hardware/names.hpp"
#include "hardware/text_file.hpp"
#include "model/engine/engine.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/log.hpp"
#include "sweep/spec.hpp"

namespace headroom::sweep {
namespace {

constexpr const Command* commands[] = {
    &params_command,     // exact parameter counts
    &estimate_command,   // one point
    &place_command,      // device maps
    &curve_command,      // speed against memory
    &sweep_command,      // a whole grid into a database
    &plan_command,       // the inverse questions
    &launch_command,     // ready configurations
    &report_command,     // tables and curves from a database
    &diff_command,       // changes between two runs, with causes
    &merge_command,      // shards into one run
    &prune_command,      // old runs removed
    &models_command,     // the catalogue of models
    &hardware_command,   // the catalogue of devices and hosts
    &runtimes_command,   // the engines and their constants
    &calibrate_command,  // constants by one's own measurements
    &accuracy_command,   // estimates against measurements
    &doctor_command,     // abilities of this machine
};

std::string overview() {
  std::string text =
      "headroom: memory, placement and speed of language models on machines, from metadata "
      "alone\n\n"
      "Usage: headroom COMMAND [options]\n\nCommands:\n";
  for (const Command* command : commands)
    text += fmt::format("  {:<10} {}\n", command->help.name, command->help.summary);
  return text +
         "\n`headroom COMMAND --help` lists options, examples, columns and exit codes.\n"
         "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no.\n";
}

const Command& find(const std::string& name) {
  std::vector<std::string> known;
  for (const Command* command : commands) {
    if (command->help.name == name) return *command;
    known.emplace_back(command->help.name);
  }
  throw UsageError(fmt::format("unknown command '{}'; nearest: {} (headroom --help lists all)",
                               name, fmt::join(nearest(name, known), ", ")));
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) throw UsageError("which command? headroom --help lists them");
  std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "--version") {
    fmt::print("headroom {}\n", HEADROOM_VERSION);
    return done;
  }
  if (name == "help" && !arguments.empty()) {
    name = arguments.front();
    arguments = {"--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") {
    fmt::print("{}", overview());
    return done;
  }
  const Command& command = find(name);
  const Options options = parse_options(command.help, arguments);
  for (const std::string& file : options.texts("engines"))
    model::add_engines(read_text_file(file), file);
  if (options.given("help")) {
    fmt::print("{}", help_text(command.help));
    return done;
  }
  const int code = command.run(options);
  return code;
}

int guarded(std::vector<std::string> arguments) {
  const bool json = std::ranges::adjacent_find(arguments,
                                               [](const auto& a, const auto& b) {
                                                 return a == "--log-format" && b == "json";
                                               }) != arguments.end() ||
                    std::ranges::find(arguments, "--log-format=json") != arguments.end();
  /// Says `what` on standard error and returns `code`.
  const auto complain = [&](const char* what, int code) {
    if (json)
      fmt::print(stderr, "{}\n", log_line("error", what, {{"exit_code", code}}));
    else
      fmt::print(stderr, "headroom: {}\n", what);
    return code;
  };
  try {
    const int code = dispatch(std::move(arguments));
    if (std::fflush(stdout) != 0) return complain("standard output cannot be written", failed);
    return code;
  } catch (const UsageError& e) {
    return complain(e.what(), usage);
  } catch (const SpecError& e) {
    return complain(e.what(), usage);
  } catch (const UnknownName& e) {
    return complain(e.what(), usage);
  } catch (const std::invalid_argument& e) {
    return complain(e.what(), usage);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", failed);
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
}

}  // namespace
}  // namespace headroom::sweep

int main(int argc, char** argv) {
  return headroom::sweep::guarded({argv + 1, argv + std::max(argc, 1)});
}
