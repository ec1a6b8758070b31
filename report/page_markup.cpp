// Lists and tables of the page.
#include <fmt/format.h>

#include <sstream>

#include "report/format.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"

namespace headroom::report {
namespace {

/// What Markdown needed escaped, as it was.
std::string unescaped(std::string_view markdown) {
  std::string text;
  for (std::size_t i = 0; i < markdown.size(); ++i) {
    if (markdown[i] == '\\' && i + 1 < markdown.size())
      text += markdown[++i];
    else if (markdown.substr(i, 4) == "&lt;") {
      text += '<';
      i += 3;
    } else {
      text += markdown[i];
    }
  }
  return text;
}

}  // namespace

std::string html_list(const std::string& markdown) {
  std::string out, line;
  std::istringstream lines(markdown);
  std::size_t depth = 0;
  const auto to = [&](std::size_t wanted) {
    for (; depth < wanted; ++depth) out += "<ul>";
    for (; depth > wanted; --depth) out += "</ul>";
  };
  while (std::getline(lines, line)) {
    const auto at = line.find_first_not_of(' ');
    if (at == std::string::npos) continue;
    const bool item = line.compare(at, 2, "- ") == 0;
    to(item ? at / 2 + 1 : 0);
    out += item ? "<li>" + html_text(unescaped(line.substr(at + 2))) + "</li>"
                : "<p>" + html_text(unescaped(line)) + "</p>";
  }
  to(0);
  return out;
}

std::string html_table(const Table& table, std::string_view caption) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}"
      "</caption><thead><tr>",
      html_text(caption));
  for (const auto& name : table.names) out += "<th scope=\"col\">" + html_text(name) + "</th>";
  out += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (const auto& cell : row) out += "<td>" + html_text(text(cell)) + "</td>";
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

}  // namespace headroom::report
