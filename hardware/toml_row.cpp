// Typed access to TOML. All files of this program share its error format.
#include "hardware/toml_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "hardware/names.hpp"

namespace headroom {
namespace {

/// The found value as the file's author would recognise it.
std::string shown(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  std::ostringstream out;
  node.visit([&](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) out << value;
  });
  return out.str();
}

std::string place(std::string_view file, const toml::source_region& region) {
  return fmt::format("{}:{}", file, region.begin.line);
}

}  // namespace

toml::table parse_toml(std::string_view text, std::string_view file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw std::runtime_error(
        fmt::format("{}: not TOML: {}", place(file, error.source()), error.description()));
  }
}

void require_known_keys(const toml::table& table, std::span<const std::string_view> known,
                        std::string_view file) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(known, key.str()) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    throw std::runtime_error(fmt::format("{}: {}", place(file, key.source()),
                                         unknown_name("key", key.str(), names).what()));
  }
}

const toml::node* TomlRow::find(std::string_view key) {
  asked_.push_back(key);
  return table_.get(key);
}

void TomlRow::fail(std::string_view key, std::string_view message) const {
  const toml::node* node = table_.get(key);
  const toml::source_region& region = node != nullptr ? node->source() : table_.source();
  throw std::runtime_error(fmt::format("{}: key '{}': {}", place(file_, region), key, message));
}

void TomlRow::wrong(std::string_view key, const toml::node& found,
                    std::string_view expected) const {
  fail(key, fmt::format("found {}; expected {}", shown(found), expected));
}

std::optional<std::string> TomlRow::text(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const toml::value<std::string>* value = node->as_string();
  if (value == nullptr || value->get().empty()) wrong(key, *node, "a text that is not empty");
  return value->get();
}

std::string TomlRow::required_text(std::string_view key) {
  if (auto value = text(key)) return *value;
  fail(key, "missing; expected a text");
}

std::vector<std::string> TomlRow::texts(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  if (const toml::value<std::string>* value = node->as_string()) return {value->get()};
  const toml::array* array = node->as_array();
  if (array == nullptr) wrong(key, *node, "a text or an array of texts");
  std::vector<std::string> result;
  for (const toml::node& each : *array) {
    const toml::value<std::string>* value = each.as_string();
    if (value == nullptr) wrong(key, each, "a text");
    result.push_back(value->get());
  }
  return result;
}

std::optional<bool> TomlRow::flag(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_boolean()) wrong(key, *node, "true or false");
  return node->as_boolean()->get();
}

std::optional<double> TomlRow::number(std::string_view key, Limit limit) {
  const toml::node* node = find(key);
  if (node == nullptr) return std::nullopt;
  const std::string expected = fmt::format("a number from 0 to {}", limit.most);
  if (!node->is_number()) wrong(key, *node, expected);
  const double value = *node->value<double>();
  if (!std::isfinite(value) || value < 0 || value > limit.most) wrong(key, *node, expected);
  return value;
}

std::optional<double> TomlRow::positive(std::string_view key, Limit limit) {
  const std::optional<double> value = number(key, limit);
  if (value && *value == 0)
    fail(key, fmt::format("found 0; expected a number above 0, up to {}", limit.most));
  return value;
}

double TomlRow::required_positive(std::string_view key, Limit limit) {
  if (const auto value = positive(key, limit)) return *value;
  fail(key, fmt::format("missing; expected a number above 0, up to {}", limit.most));
}

const toml::table* TomlRow::table(std::string_view key) {
  const toml::node* node = find(key);
  return node == nullptr ? nullptr : node->as_table();
}

const toml::table* TomlRow::optional_table(std::string_view key) {
  const toml::node* node = find(key);
  if (node != nullptr && !node->is_table()) wrong(key, *node, "a table");
  return node == nullptr ? nullptr : node->as_table();
}

std::vector<const toml::table*> TomlRow::tables(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) wrong(key, *node, "an array of tables");
  std::vector<const toml::table*> result;
  for (const toml::node& each : *array) {
    if (!each.is_table()) wrong(key, each, "a table");
    result.push_back(each.as_table());
  }
  return result;
}

void TomlRow::finish() const { require_known_keys(table_, asked_, file_); }

}  // namespace headroom
