#include "sweep/reference.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "report/columns.hpp"
#include "report/markdown.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/grid/axes.hpp"
#include "sweep/options/help.hpp"

namespace headroom::sweep {
namespace {

using Cells = std::vector<std::string>;

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", text); }

/// A pipe would end the cell of a table.
std::string cell(std::string_view text) {
  std::string all;
  for (const char c : text) all += c == '|' ? std::string("\\|") : std::string(1, c);
  return all;
}

std::string table(const Cells& headings, const std::vector<Cells>& rows) {
  std::string text = fmt::format("| {} |\n|", fmt::join(headings, " | "));
  for (std::size_t i = 0; i < headings.size(); ++i) text += "---|";
  text += '\n';
  for (const Cells& row : rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text + '\n';
}

std::string commands_text() {
  std::string text = "## Commands\n\n";
  for (const Command* command : commands()) {
    const CommandHelp& help = command->help;
    Cells flags;
    for (const FlagGroup& group : flag_groups())
      for (const Flag* flag : flags_of(help, group))
        flags.push_back(code("--" + std::string(flag->name)));
    text += fmt::format("### {}\n\n", help.name);
    text += fmt::format("`headroom {}{}{}`: {}.\n\n", help.name, help.operands.empty() ? "" : " ",
                        help.operands, help.summary);
    text += fmt::format("Options: {}.\n\n", fmt::join(flags, ", "));
    text += fmt::format("```\n{}\n```\n\nOutput:\n\n```\n{}\n```\n\n", help.examples, help.columns);
  }
  return text;
}

std::string options_text() {
  std::string text = "## Options\n\n";
  for (const FlagGroup& group : flag_groups()) {
    std::vector<Cells> rows;
    for (const auto name : headroom::words(group.flags)) {
      const Flag& flag = *find_flag(name);
      Cells others;
      for (const std::string& each : other_spellings(flag)) others.push_back(code(each));
      rows.push_back({cell(code(usage_of(flag))), fmt::format("{}", fmt::join(others, ", ")),
                      cell(flag.meaning)});
    }
    text += fmt::format("### {}\n\n", group.title);
    text += table({"option", "also", "meaning"}, rows);
  }
  return text;
}

std::string axes_text(model::Task task, std::string_view heading) {
  std::vector<Cells> rows;
  for (const AxisForm& axis : axis_forms(task)) {
    constexpr std::string_view kinds[] = {"texts", "numbers", "sizes"};
    rows.push_back({code(axis.key), std::string(kinds[static_cast<std::size_t>(axis.values)]),
                    code(axis.usual), code(axis.column)});
  }
  return fmt::format("### {}\n\n", heading) + table({"key", "values", "usual", "column"}, rows);
}

std::string columns_text() {
  constexpr std::string_view kinds[] = {"point", "axis", "fact", "outcome", "derived"};
  std::vector<Cells> rows;
  for (const report::Column& column : report::columns())
    rows.push_back({code(column.name), std::string(column.unit),
                    std::string(kinds[static_cast<std::size_t>(column.kind)]),
                    cell(column.meaning)});
  return "## Columns\n\nColumns of `result`, of `results.csv` and of conditions.\n\n" +
         table({"column", "unit", "kind", "meaning"}, rows);
}

}  // namespace

std::string reference_markdown() {
  return "# Reference\n\nThis page is what `headroom man --format md` prints.\n\n" +
         commands_text() + options_text() +
         "## Keys of a grid\n\nA `[[grid]]` of a spec takes these keys, and `link` and "
         "`exclude`. Texts stand in quotes. A grid without `runtimes`, or with \"auto\", takes the "
         "engines and precisions that `estimate` compares. A grid with `speculate`, `adapters` or "
         "another thing served beside the model takes the usual engine.\n\n" +
         axes_text(model::Task::inference, "Inference") +
         axes_text(model::Task::training, "Training: `task = \"training\"`") + columns_text();
}

}  // namespace headroom::sweep
