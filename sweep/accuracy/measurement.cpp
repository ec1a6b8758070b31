#include "sweep/accuracy/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <stdexcept>

#include "hardware/text.hpp"
#include "hardware/text_file.hpp"

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

std::string read_text(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw std::runtime_error(path + ": a folder; expected a file of measurements");
  std::string text =
      read_text_file(path, "measurements: of llama-bench, vLLM or the probe, or rows in CSV");
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
    Measurement each{.file = path, .line = record->line, .fields = {}};
    for (std::size_t i = 0; i < header.size(); ++i)
      each.fields[header[i]] = trimmed(record->fields[i]);
    all.push_back(std::move(each));
  }
  return all;
}

std::vector<Measurement> read_measurements(const std::string& path) {
  std::vector<Measurement> all = parse_records(read_text(path), path);
  for (const auto needed : {"id", "kind", "model", "figure", "value", "grade", "source"})
    if (!all.empty() && !all.front().fields.contains(needed))
      throw std::runtime_error(
          fmt::format("{}: no column '{}': not a file of canonical rows. The script "
                      "tests/accuracy/normalise.py FILE > OUT.csv turns measurements in their "
                      "sources' words into canonical rows; tests/accuracy/canonical has some",
                      path, needed));
  return all;
}

std::string_view name_of(Skip reason) {
  switch (reason) {
    case Skip::missing:
      return "the row lacks what an estimate needs";
    case Skip::model:
      return "a model without a config or a described class";
    case Skip::device:
      return "hardware that the catalogue does not have";
    case Skip::precision:
      return "a precision that is not described";
    case Skip::runtime:
      return "an engine that is not described";
    case Skip::setting:
      return "a needed setting is not stated";
    case Skip::feature:
      return "a feature that is not described";
    case Skip::statistic:
      return "a statistic that no estimate gives";
    case Skip::capacity:
      return "more memory used than the cards of the row have";
    case Skip::contradiction:
      return "another row of its source does more in half the time";
    case Skip::memory_rate:
      return "faster than the weights can be read from the memories that they are in";
  }
  return "";
}

void require_complete(const Measurement& row) {
  if (!row["missing"].empty()) throw Skipped(Skip::missing, row["missing"]);
}

namespace {

/// Public files whose copy did not name their repository have a description: "unnamed-repository:
/// notes of a rig (May 2026)", "unnamed-repository/… (README of a rig, section 2)".
std::string described_source(std::string_view source) {
  const auto begins = source.find_first_of(":(");
  if (begins == source.npos) return {};
  std::string words;
  for (const char c : source.substr(begins + 1)) {
    if (words.size() > 1 && (c == ',' || c == '(' || c == ')' || c == ';')) break;
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) || c == '.';
    if (kept)
      words += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.empty() && !words.ends_with('-'))
      words += '-';
  }
  while (words.ends_with('-')) words.pop_back();
  return words;
}

}  // namespace

std::string short_source(std::string source) {
  constexpr std::string_view unnamed = "unnamed-repository";
  const auto rest = std::string_view(source).substr(std::min(unnamed.size(), source.size()));
  if (source.starts_with(unnamed) && (rest.starts_with(':') || rest.starts_with("/…")))
    if (const std::string words = described_source(source); !words.empty())
      return fmt::format("{}/{}", unnamed, words);
  if (source.starts_with("github:")) source.erase(0, 7);
  if (source.starts_with("https://")) source.erase(0, 8);
  if (source.starts_with("github.com/")) source.erase(0, 11);
  return source.substr(0, std::min(source.find_first_of("@: ("), source.size()));
}

std::string sources_of(const std::vector<const Measurement*>& rows) {
  std::map<std::string, int> counts;
  for (const Measurement* row : rows) ++counts[short_source((*row)["source"])];
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [name, n] : counts) sorted.emplace_back(-n, name);
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [n, name] : sorted) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace headroom::sweep
