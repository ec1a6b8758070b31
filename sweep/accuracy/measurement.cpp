#include "sweep/accuracy/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

struct Record {
  std::size_t line = 1;
  std::vector<std::string> fields{""};
  bool empty() const { return fields.size() == 1 && fields.front().empty(); }
};

/// RFC 4180: quotes around a field, doubled inside; either end of line.
std::vector<Record> records(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::vector<Record> all(1);
  bool quoted = false;
  std::size_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') ++line;
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      all.back().fields.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      all.back().fields.emplace_back();
    } else if (!quoted && c == '\n') {
      all.push_back({.line = line});
    } else if (quoted || c != '\r') {
      all.back().fields.back() += c;
    }
  }
  std::erase_if(all, [](const Record& record) { return record.empty(); });
  return all;
}

}  // namespace

const std::string& Measurement::operator[](std::string_view column) const {
  static const std::string none;
  const auto it = fields.find(column);
  return it == fields.end() ? none : it->second;
}

std::optional<std::string> Measurement::setting(std::string_view key) const {
  const auto it = settings.find(key);
  return it == settings.end() ? std::nullopt : std::optional(it->second);
}

std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return rest.find_first_of("0123456789") == std::string_view::npos ? std::optional(value)
                                                                    : std::nullopt;
}

std::optional<double> Measurement::number(std::string_view column) const {
  const std::string& text = (*this)[column];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::map<std::string, std::string, std::less<>> settings_of(std::string_view text) {
  std::map<std::string, std::string, std::less<>> all;
  while (!text.empty()) {
    const auto end = std::min(text.find(';'), text.size());
    const auto each = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto equals = each.find('=');
    std::string key(trimmed(each.substr(0, equals)));
    if (key.empty()) continue;
    all[std::move(key)] = equals == std::string_view::npos
                              ? std::string()
                              : std::string(trimmed(each.substr(equals + 1)));
  }
  return all;
}

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw std::runtime_error(path + ": a folder; expected a file of measurements");
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) throw std::runtime_error(path + ": cannot be read");
  if (text.empty()) throw std::runtime_error(path + ": cannot be read, or is empty");
  return text;
}

std::vector<Measurement> parse_records(std::string_view text, const std::string& path) {
  const auto lines = records(text);
  if (lines.empty()) throw std::runtime_error(path + ": no header");
  const std::vector<std::string>& header = lines.front().fields;
  std::vector<Measurement> all;
  for (auto record = lines.begin() + 1; record != lines.end(); ++record) {
    if (record->fields.size() != header.size())
      throw std::runtime_error(fmt::format("{}:{}: {} fields, where the header has {}", path,
                                           record->line, record->fields.size(), header.size()));
    Measurement each{.file = path, .line = record->line, .fields = {}, .settings = {}};
    for (std::size_t i = 0; i < header.size(); ++i)
      each.fields[header[i]] = trimmed(record->fields[i]);
    each.settings = settings_of(each["settings"]);
    all.push_back(std::move(each));
  }
  return all;
}

std::vector<Measurement> read_measurements(const std::string& path) {
  std::vector<Measurement> all = parse_records(read_text(path), path);
  for (const auto needed : {"id", "model", "grade", "source"})
    if (!all.empty() && !all.front().fields.contains(needed))
      throw std::runtime_error(fmt::format(
          "{}: no column '{}'; the first line must name the columns (tests/accuracy/README.md)",
          path, needed));
  return all;
}

}  // namespace headroom::sweep
