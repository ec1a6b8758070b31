// Markdown tables.
#include "report/markdown.hpp"

#include "report/format.hpp"

namespace headroom::report {

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '[' || c == ']')
      safe += '\\';
    else if (c == '<') {
      safe += "&lt;";
      continue;
    }
    safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string markdown_cell(std::string_view name, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  const Column* column = find_column(name);
  if (!column || std::holds_alternative<std::string>(value)) return markdown_text(text(value));
  if (column->shown == DisplayUnit::plain && std::holds_alternative<std::int64_t>(value))
    return text(value);
  return shown(number(value), column->shown);
}

std::string markdown(const std::vector<std::string>& headings, const std::vector<bool>& right,
                     const std::vector<std::vector<std::string>>& rows) {
  std::string out = "|";
  for (const auto& h : headings) out += ' ' + h + " |";
  out += "\n|";
  for (const bool r : right) out += r ? " ---: |" : " --- |";
  out += '\n';
  for (const auto& row : rows) {
    out += '|';
    for (const auto& cell : row) out += ' ' + cell + (cell.empty() ? "|" : " |");
    out += '\n';
  }
  return out;
}

std::string markdown(const Table& table) {
  std::vector<std::string> headings;
  std::vector<bool> right;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    const auto& name = table.names[c];
    const Column* column = find_column(name);
    headings.push_back(column ? heading(*column) : markdown_text(name));
    right.push_back(column ? column->type != SqlType::text
                           : !table.rows.empty() &&
                                 !std::holds_alternative<std::string>(table.rows.front()[c]));
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    auto& cells = rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c)
      cells.push_back(markdown_cell(table.names[c], row[c]));
  }
  return markdown(headings, right, rows);
}

}  // namespace headroom::report
