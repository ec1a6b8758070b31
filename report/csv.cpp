// Tables to CSV.
#include "report/csv.hpp"

#include <algorithm>

namespace headroom::report {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

void flush(std::ostream& out, std::string& buffer) {
  out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  if (!out) throw std::ios_base::failure("writing CSV failed");
  buffer.clear();
}

}  // namespace

bool needs_quotes(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return c == ',' || c == '"' || c == '\r' || c == '\n'; });
}

std::string csv_field(std::string_view text) {
  if (!needs_quotes(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_csv(std::ostream& out, const Table& table) {
  std::string buffer;
  for (std::size_t c = 0; c < table.names.size(); ++c)
    buffer += (c ? "," : "") + csv_field(table.names[c]);
  buffer += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) buffer += (c ? "," : "") + csv_field(text(row[c]));
    buffer += "\r\n";
    if (buffer.size() > buffer_bytes) flush(out, buffer);
  }
  flush(out, buffer);
}

}  // namespace headroom::report
