// headroom completion: scripts that let a shell complete commands, options and names.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/catalogue.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/options/help.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using Words = std::vector<std::string>;

template <class Rows>
Words names_of(const Rows& rows) {
  Words all;
  for (const auto& row : rows) all.emplace_back(row.name);
  return all;
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// The values that a flag takes, where they are names; empty: any, or a file.
Words values_of(const Flag& flag) {
  if (is_one_of(flag.name, {"runtime", "runtimes"})) return names_of(model::engines());
  if (is_one_of(flag.name, {"precision", "precisions", "draft-precision"}))
    return names_of(model::schemes());
  if (is_one_of(flag.name, {"machine", "machines", "device"}))
    return names_of(shipped_catalogue().devices);
  if (flag.name == "cpu") return names_of(shipped_catalogue().processors);
  if (flag.name == "host") return names_of(shipped_catalogue().hosts);
  if (is_one_of(flag.name, {"model", "draft-model"})) return catalogue_models();
  if (flag.name == "task") return {"inference", "training"};
  if (flag.name == "format") return {"text", "json", "jsonl", "csv", "md"};
  return {};
}

/// The values that the operands of a command take; empty: files.
Words operands_of(const CommandHelp& command) {
  if (command.operands.starts_with("MODEL")) return catalogue_models();
  if (command.name == "runtimes") return names_of(model::engines());
  return {};
}

std::vector<const Flag*> flags_of(const CommandHelp& command) {
  std::vector<const Flag*> all;
  for (const FlagGroup& group : flag_groups())
    for (const Flag* flag : flags_of(command, group)) all.push_back(flag);
  return all;
}

Words spellings_of(const Flag& flag) {
  Words all = other_spellings(flag);
  all.insert(all.begin(), "--" + std::string(flag.name));
  return all;
}

std::string bash() {
  std::string values, options;
  for (const Flag& flag : flags())
    if (const Words all = values_of(flag); !all.empty())
      values += fmt::format("    {}) words='{}' ;;\n", fmt::join(spellings_of(flag), "|"),
                            fmt::join(all, " "));
  Words names;
  for (const Command* command : commands()) {
    names.emplace_back(command->help.name);
    Words mine = operands_of(command->help);
    for (const Flag* flag : flags_of(command->help)) mine.push_back("--" + std::string(flag->name));
    options += fmt::format("      {}) words='{}' ;;\n", command->help.name, fmt::join(mine, " "));
  }
  return fmt::format(R"(# bash: source <(headroom completion bash)
_headroom() {{
  local words current=${{COMP_WORDS[COMP_CWORD]}}
  case ${{COMP_WORDS[COMP_CWORD - 1]}} in
{}    *) case ${{COMP_WORDS[1]}} in
{}    esac ;;
  esac
  [ "$COMP_CWORD" != 1 ] || words='{}'
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _headroom headroom
)",
                     values, options, fmt::join(names, " "));
}

/// `text` with a backslash before what `_arguments` of zsh reads as its own.
std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::string zsh_action(const Words& values) {
  return values.empty() ? std::string("_files") : fmt::format("({})", fmt::join(values, " "));
}

std::string zsh() {
  std::string names, cases;
  for (const Command* command : commands()) {
    names += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", command->help.name,
                                                              escaped(command->help.summary))));
    cases += fmt::format("    {}) _arguments", command->help.name);
    for (const Flag* flag : flags_of(command->help)) {
      std::string one = fmt::format("--{}[{}]", flag->name, escaped(flag->meaning));
      if (flag->takes != Takes::nothing)
        one += fmt::format(":{}:{}", escaped(flag->value), zsh_action(values_of(*flag)));
      cases += " \\\n      " + shell_quoted(one);
    }
    if (!command->help.operands.empty())
      cases += " \\\n      " + shell_quoted("*:operand:" + zsh_action(operands_of(command->help)));
    cases += " ;;\n";
  }
  return fmt::format(R"(#compdef headroom
# zsh: headroom completion zsh > a folder of $fpath/_headroom
_headroom() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
_headroom "$@"
)",
                     names, cases);
}

std::string fish() {
  std::string text =
      "# fish: headroom completion fish > ~/.config/fish/completions/headroom.fish\n";
  for (const Command* command : commands()) {
    const CommandHelp& help = command->help;
    text += fmt::format("complete -c headroom -n __fish_use_subcommand -f -a {} -d {}\n", help.name,
                        shell_quoted(help.summary));
    const std::string on =
        fmt::format("complete -c headroom -n '__fish_seen_subcommand_from {}'", help.name);
    for (const Flag* flag : flags_of(help)) {
      text += fmt::format("{} -l {} -d {}", on, flag->name, shell_quoted(flag->meaning));
      const Words values = values_of(*flag);
      if (flag->takes != Takes::nothing) text += " -r";
      if (!values.empty()) text += fmt::format(" -f -a '{}'", fmt::join(values, " "));
      text += '\n';
    }
    if (const Words all = operands_of(help); !all.empty())
      text += fmt::format("{} -a '{}'\n", on, fmt::join(all, " "));
  }
  return text;
}

int run_completion(const Options& options) {
  if (options.operands().size() != 1)
    throw UsageError("which shell? headroom completion bash, zsh or fish");
  const std::string& shell = options.operands().front();
  if (shell != "bash" && shell != "zsh" && shell != "fish")
    throw UsageError(fmt::format("no completion for '{}'; there is bash, zsh and fish", shell));
  emit(options, shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish());
  return done;
}

}  // namespace

const Command completion_command = {
    {.name = "completion",
     .summary = "print a script that completes commands, options and names in a shell",
     .operands = "SHELL",
     .flags = "out",
     .examples = "source <(headroom completion bash)\n"
                 "headroom completion zsh --out ~/.zfunc/_headroom\n"
                 "headroom completion fish --out ~/.config/fish/completions/headroom.fish",
     .columns = "text: the script",
     .exit_codes = usual_exit_codes},
    run_completion};

}  // namespace headroom::sweep
