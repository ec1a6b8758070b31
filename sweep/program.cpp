// Finds the command that was asked for. The only place where errors become words and exit codes.
#include "sweep/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "hardware/machine.hpp"
#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "model/checkpoint/adapter.hpp"
#include "model/engine/engine.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/log.hpp"
#include "sweep/options/help.hpp"
#include "sweep/options/server_command.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/spec/spec.hpp"

namespace headroom::sweep {
namespace {

std::string overview() {
  std::string text =
      "headroom: memory, placement and speed of language models on machines, from metadata "
      "alone\n\n"
      "Usage: headroom COMMAND [options]\n\nCommands:\n";
  for (const Command* command : commands())
    text += fmt::format("  {:<10} {}\n", command->help.name, command->help.summary);
  return text +
         "\n`headroom MODEL MACHINE` is short for `headroom estimate MODEL --machine MACHINE`.\n"
         "`headroom --machine MACHINE -- vllm serve MODEL …` reads a server's command line.\n"
         "`headroom COMMAND --help` shows common options and examples, --help-all everything.\n"
         "Exit codes: 0 done, 1 failed, 2 usage, 3 the answer is no.\n";
}

constexpr std::string_view how_to_ask =
    "which command? For example:\n"
    "  headroom Qwen/Qwen3-32B rtx-4090                    does it run, in how much memory, how "
    "fast\n"
    "  headroom params deepseek-ai/DeepSeek-V3             how many parameters it has\n"
    "  headroom curve llama3-8b --machine rtx-4090         speed against GPU memory\n"
    "  headroom plan largest-model --machine rtx-4090      the largest model that a machine runs\n"
    "  headroom sweep examples/nightly.toml                a whole grid, with tables and curves\n"
    "headroom --help lists all commands";

const Command* find(std::string_view name) {
  for (const Command* command : commands())
    if (command->help.name == name) return command;
  return nullptr;
}

/// True if `text` names a machine of the shipped catalogue, or this computer.
bool is_machine(const std::string& text) {
  try {
    parse_machine(text, shipped_catalogue());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool says_machine(const std::vector<std::string>& arguments) {
  constexpr std::string_view flags[] = {"--machine", "--device", "--gpu", "--host", "--cpu"};
  return std::ranges::any_of(arguments, [&](const std::string& text) {
    return std::ranges::find(flags, std::string_view(text).substr(0, text.find('='))) !=
           std::end(flags);
  });
}

/// Reads "MODEL MACHINE" of commands about machines as "MODEL --machine=MACHINE", and so "QUESTION
/// MODEL MACHINE" of plan. Only the last word before the options can be the machine. A word behind
/// the model that is no model and no file is a machine with a mistake in its name.
void take_machine(const Command& command, std::vector<std::string>& arguments) {
  constexpr std::string_view about_one[] = {"estimate", "curve", "place", "launch"};
  const bool plans = command.help.name == "plan";
  if (!plans && std::ranges::find(about_one, command.help.name) == std::end(about_one)) return;
  const auto options = std::ranges::find_if(
      arguments, [](const std::string& text) { return text.starts_with('-'); });
  const auto words = options - arguments.begin();
  if (plans ? words == 0 : words != 2) return;
  std::string& last = arguments[static_cast<std::size_t>(words) - 1];
  if (!is_machine(last) && (words < (plans ? 3 : 2) || says_machine(arguments) ||
                            names_model(last) || std::filesystem::exists(last)))
    return;
  if (!plans || arguments.front() != "fewest-gpus") {
    last = "--machine=" + last;
    return;
  }
  // The number of cards is the answer.
  const Machine machine = parse_machine(last, shipped_catalogue());
  if (!machine.devices.empty()) last = "--device=" + machine.devices.front().name;
}

/// Words that people try as commands, and the commands that do it.
struct Synonym {
  std::string_view word, command;
};
constexpr Synonym synonyms[] = {
    {"train", "estimate MODEL MACHINE --task training"},
    {"finetune", "estimate MODEL MACHINE --task training --lora"},
    {"serve", "launch MODEL MACHINE"},
    {"run", "launch MODEL MACHINE"},
    {"compare", "plan best-precision MODEL MACHINE, or headroom sweep for several models"},
    {"list", "models list"},
    {"machines", "hardware list"},
    {"engines", "runtimes"},
};

[[noreturn]] void unknown_command(const std::string& name, const std::string& next) {
  const auto other = std::ranges::find(synonyms, name, &Synonym::word);
  if (other != std::end(synonyms))
    throw UsageError(fmt::format("'{}' is no command; try headroom {}", name, other->command));
  if (is_machine(name))
    throw UsageError(fmt::format("'{}' is a machine, and the model comes first: headroom {} {}",
                                 name, next.empty() ? "MODEL" : next, name));
  std::vector<std::string> known;
  for (const Command* command : commands()) known.emplace_back(command->help.name);
  throw UsageError(fmt::format(
      "unknown command '{}'; nearest: {} (headroom --help lists all). To estimate a model, type "
      "headroom MODEL MACHINE",
      name, fmt::join(nearest(name, known), ", ")));
}

/// Runs the command. An error about the value of a flag names the flag, whoever finds it.
int run(const Command& command, const Options& options) {
  try {
    for (const std::string& file : options.texts("engines"))
      model::add_engines(read_text_file(file, "engines in TOML"), file);
    return command.run(options);
  } catch (const UsageError& e) {
    throw UsageError(options.naming_flag(e.what()));
  } catch (const UnknownName& e) {
    throw UsageError(options.naming_flag(e.what()));
  } catch (const SpecError&) {
    throw;
  } catch (const model::AdapterError& e) {
    const std::string named = options.naming_flag(e.what());
    throw UsageError(named.starts_with("--") || !options.given("lora-targets")
                         ? named
                         : "--lora-targets: " + named);
  } catch (const std::invalid_argument& e) {
    throw UsageError(options.naming_flag(e.what()));
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(options.naming_flag(e.what()));
  }
}

/// An error's message: on a terminal in lines that it holds, for programs in one.
std::string message_lines(const std::string& what) {
  const std::string text = "headroom: " + without_controls(what);
  const bool screen = ::isatty(STDERR_FILENO) != 0 && text.find('\n') == std::string::npos;
  return screen ? wrapped(text, 0, 2) : text;
}

int dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) throw UsageError(std::string(how_to_ask));
  if (auto read = server_command(arguments)) {
    fmt::print(stderr, "{}\n", message_lines(in_words(*read)));
    arguments = std::move(read->arguments);
  }
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
  if (name == "--help" || name == "-h" || name == "help" || name == "--help-all") {
    fmt::print("{}", overview());
    return done;
  }
  const Command* command = find(name);
  if (command == nullptr) {
    // `estimate` says what is wrong with the machine of a model.
    const bool names_machine = !arguments.empty() && !arguments.front().starts_with('-');
    if (!names_model(name) && !(names_machine && is_machine(arguments.front())))
      unknown_command(name, names_machine ? arguments.front() : "");
    command = &estimate_command;
    if (names_machine) arguments.front() = "--machine=" + arguments.front();
    arguments.insert(arguments.begin(), name);
  }
  take_machine(*command, arguments);
  const Options options = parse_options(command->help, arguments);
  if (options.given("help-all") || options.given("help")) {
    fmt::print(
        "{}", options.given("help-all") ? full_help_text(command->help) : help_text(command->help));
    return done;
  }
  return run(*command, options);
}

}  // namespace

int run_program(std::vector<std::string> arguments) {
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
      fmt::print(stderr, "{}\n", message_lines(what));
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

}  // namespace headroom::sweep
