// Markdown tables.
#include "report/markdown.hpp"

#include "report/document.hpp"
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

std::string shown_value(std::string_view name, const Value& value) {
  if (std::holds_alternative<std::monostate>(value)) return "";
  const Column* column = find_column(name);
  if (!column || std::holds_alternative<std::string>(value)) return text(value);
  if (column->shown == DisplayUnit::plain && std::holds_alternative<std::int64_t>(value))
    return text(value);
  return shown(number(value), column->shown);
}

std::string markdown(const std::vector<std::string>& headings, const std::vector<bool>& right,
                     const std::vector<std::vector<std::string>>& rows) {
  std::string out = "|";
  for (const auto& h : headings) out += ' ' + h + (h.empty() ? "|" : " |");
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

std::string markdown(const Table& table) { return to_markdown(Document().add(table_block(table))); }

}  // namespace headroom::report
