#include "csv.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "archive.hpp"
#include "hardware/text_file.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

std::vector<std::vector<std::string>> records(const std::string& text) {
  std::vector<std::vector<std::string>> all(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      all.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      all.back().emplace_back();
    } else if (!quoted && c == '\n') {
      all.push_back({""});
    } else if (quoted || c != '\r') {
      all.back().back() += c;
    }
  }
  if (all.back().size() == 1 && all.back().front().empty()) all.pop_back();
  return all;
}

}  // namespace

std::vector<Row> read_csv(const std::string& name) {
  const std::string path = data_path(name);
  const auto lines = records(name.ends_with(".gz") ? read_gzip(path) : read_text_file(path));
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].size() != lines[0].size())
      throw std::runtime_error(fmt::format("{}: record {} has {} fields, the header {}", name, i,
                                           lines[i].size(), lines[0].size()));
    Row row;
    for (std::size_t k = 0; k < lines[0].size(); ++k) row[lines[0][k]] = lines[i][k];
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace headroom::oracle
