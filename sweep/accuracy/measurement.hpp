// Published measurements: one record of a CSV file is one measurement, with its source and grade.
// The columns are those of tests/accuracy/README.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

struct Measurement {
  std::string file;
  std::size_t line = 0;                                      ///< on which the record starts, from 1
  std::map<std::string, std::string, std::less<>> fields;    ///< column → field, trimmed
  std::map<std::string, std::string, std::less<>> settings;  ///< of the column "settings"

  /// The field; empty where the file has no such column.
  const std::string& operator[](std::string_view column) const;
  /// The value of `key=value` in the settings; empty for a word that stands alone.
  std::optional<std::string> setting(std::string_view key) const;
  /// A field as a number; nothing where it is empty or no number.
  std::optional<double> number(std::string_view column) const;
};

/// The number that `text` starts with, if nothing but a unit or a remark in words follows.
std::optional<double> leading_number(std::string_view text);

/// The fields of "key=value;word;…".
std::map<std::string, std::string, std::less<>> settings_of(std::string_view text);

/// Every record of a CSV text, whose first line names the columns. Throws std::runtime_error naming
/// `path`: there is no header, or a record's fields are not as many as the header's.
std::vector<Measurement> parse_records(std::string_view text, const std::string& path);
/// The content of a file. Throws std::runtime_error where it cannot be read or is empty.
std::string read_text(const std::string& path);

/// Every record of a file of measurements. Throws std::runtime_error naming the file and what is
/// missing: it cannot be read, a record's fields are not as many as the header's, or a needed
/// column is absent.
std::vector<Measurement> read_measurements(const std::string& path);

}  // namespace headroom::sweep
