#include "sweep/screen/listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/text.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/terminal.hpp"

namespace headroom::sweep {
namespace {

std::string property_text(const report::Table& table) {
  std::size_t width = 0;
  for (const auto& row : table.rows) width = std::max(width, text_width(report::text(row[1])));
  std::string text, last;
  for (const auto& row : table.rows) {
    if (const std::string name = report::text(row[0]); name != last) {
      text += (text.empty() ? "" : "\n") + name + '\n';
      last = name;
    }
    const std::string property = report::text(row[1]);
    const std::string start =
        fmt::format("  {}{}  ", property, std::string(width - text_width(property), ' '));
    text += start + std::string(trimmed(wrapped(readable(row[2]), width + 4, width + 4))) + '\n';
  }
  return text;
}

}  // namespace

std::string list_text(const std::vector<ScreenColumn>& columns,
                      std::vector<std::vector<std::string>> rows, ListLength shown,
                      std::string_view rest) {
  const std::size_t all = rows.size();
  if (shown == ListLength::few && all > screen_rows) rows.resize(screen_rows);
  std::string text = screen_table(columns, rows);
  if (rows.size() < all) text += '\n' + fmt::format(fmt::runtime(rest), all - rows.size()) + '\n';
  return text;
}

ListLength length_for(const Options& options, bool whole) {
  return whole || !on_terminal(options) ? ListLength::all : ListLength::few;
}

void show_properties(const Options& options, const report::Table& table) {
  const Format format = format_of(options);
  emit(options, format == Format::text ? property_text(table) : formatted(table, format));
}

}  // namespace headroom::sweep
