// Reads one TOML table key by key. Errors name file, line, key, what was found and what is allowed.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Largest plausible value of a number. A larger one is reported as a typing error.
struct Limit {
  double most;
};

/// Parses `text`, called `file` in errors. Throws std::runtime_error with file, line and reason.
toml::table parse_toml(std::string_view text, std::string_view file);

/// Throws std::runtime_error for a key of `table` that is not in `known`, naming the nearest known
/// key.
void require_known_keys(const toml::table& table, std::span<const std::string_view> known,
                        std::string_view file);

/// A cursor over the keys of one table. Every accessor records its key, whose text must outlive the
/// row. finish() rejects the other keys. All accessors throw std::runtime_error.
class TomlRow {
 public:
  TomlRow(const toml::table& table, std::string_view file) : table_(table), file_(file) {
    asked_.reserve(32);
  }

  bool has(std::string_view key) const { return table_.contains(key); }
  std::optional<std::string> text(std::string_view key);
  std::string required_text(std::string_view key);
  /// A string or an array of strings; empty where absent.
  std::vector<std::string> texts(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  /// Greater than zero, finite, and not more than `limit`.
  std::optional<double> positive(std::string_view key, Limit limit);
  double required_positive(std::string_view key, Limit limit);
  /// The table at `key`. Null if it is absent or not a table.
  const toml::table* table(std::string_view key);
  /// Zero or more, otherwise like `positive`.
  std::optional<double> number(std::string_view key, Limit limit);
  /// An array of tables.
  std::vector<const toml::table*> tables(std::string_view key);

  /// A table. Null if it is absent.
  const toml::table* optional_table(std::string_view key);
  /// Whatever is at `key`. Null if it is absent.
  const toml::node* find(std::string_view key);

  /// Rejects keys that no accessor read, and names the nearest one that was read.
  void finish() const;
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  /// Fails with what was found and what was expected.
  [[noreturn]] void wrong(std::string_view key, const toml::node& found,
                          std::string_view expected) const;

 private:
  const toml::table& table_;
  std::string_view file_;
  std::vector<std::string_view> asked_;
};

}  // namespace headroom
