// headroom man: the manual page, from the same tables as the help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/options/help.hpp"
#include "sweep/output.hpp"
#include "sweep/reference.hpp"

namespace headroom::sweep {
namespace {

/// `text` as a line of troff: hyphens and backslashes escaped, no dot or quote at the start.
std::string troff(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '\\' || c == '-') all += '\\';
    all += c == '\\' ? 'e' : c;
  }
  return all.starts_with('.') || all.starts_with('\'') ? "\\&" + all : all;
}

std::string lines_of(std::string_view text) {
  std::string all = ".nf\n";
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    all += troff(text.substr(0, end)) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all + ".fi\n";
}

std::string manual_page() {
  std::string text = fmt::format(
      ".TH HEADROOM 1 \"\" \"headroom {}\" \"User Commands\"\n.SH NAME\n"
      "headroom \\- memory, placement and speed of language models on machines\n"
      ".SH SYNOPSIS\n.B headroom\nCOMMAND [options]\n.br\n.B headroom\nMODEL MACHINE [options]\n"
      ".SH COMMANDS\n",
      HEADROOM_VERSION);
  for (const Command* command : commands()) {
    const CommandHelp& help = command->help;
    text += fmt::format(".SS {} {}\n{}.\n.PP\nOptions:", troff(help.name), troff(help.operands),
                        troff(help.summary));
    for (const FlagGroup& group : flag_groups())
      for (const Flag* flag : flags_of(help, group))
        text += " " + troff("--" + std::string(flag->name));
    text += "\n.PP\nExamples:\n" + lines_of(help.examples) + ".PP\nOutput:\n" +
            lines_of(help.columns) + ".PP\nExit codes:\n" + lines_of(help.exit_codes);
  }
  text += ".SH OPTIONS\n";
  for (const FlagGroup& group : flag_groups()) {
    text += fmt::format(".SS {}\n", troff(group.title));
    for (const auto name : headroom::words(group.flags)) {
      const Flag& flag = *find_flag(name);
      text += fmt::format(".TP\n.B {}\n{}", troff(usage_of(flag)), troff(flag.meaning));
      if (!flag.aliases.empty())
        text += fmt::format("; also {}",
                            troff(fmt::format("{}", fmt::join(other_spellings(flag), ", "))));
      text += '\n';
    }
  }
  return text;
}

int run_man(const Options& options) {
  constexpr std::string_view formats[] = {"man", "md"};
  emit(options,
       options.one_of("format", formats, "man") == "md" ? reference_markdown() : manual_page());
  return done;
}

}  // namespace

const Command man_command = {
    {.name = "man",
     .summary = "print the manual page of all commands and options",
     .operands = "",
     .flags = "format out",
     .examples = "headroom man | man -l -\n"
                 "headroom man --out ~/.local/share/man/man1/headroom.1\n"
                 "headroom man --format md --out reference.md",
     .columns = "man: a page for man, in troff\nmd: the reference of commands, options, keys and "
                "columns",
     .exit_codes = usual_exit_codes},
    run_man};

}  // namespace headroom::sweep
