// Canonical rows of measurements: each column is a flag of a scenario or says what was measured.
// tests/accuracy/README.md lists the columns.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::sweep {

struct Measurement {
  std::string file;
  std::size_t line = 0;                                    ///< on which the record starts, from 1
  std::map<std::string, std::string, std::less<>> fields;  ///< column → field, trimmed

  /// The field; empty where the file has no such column.
  const std::string& operator[](std::string_view column) const;
  /// A field as a number; nothing where it is empty or no number.
  std::optional<double> number(std::string_view column) const;
  bool says(std::string_view column) const { return (*this)[column] == "yes"; }
};

/// Why a row is not scored: a closed list. None depends on how large the error would be.
enum class Skip {
  missing,        ///< the row itself says what it lacks
  model,          ///< a model without a config, or whose architecture is not described
  device,         ///< a card that the catalogue does not have
  precision,      ///< a way to hold weights that is not one of schemes()
  runtime,        ///< an engine that is not one of the program's rows
  setting,        ///< a setting that decides the figure is not stated
  feature,        ///< a feature that no formula covers
  statistic,      ///< a figure that no estimate gives
  capacity,       ///< more bytes on the cards than the cards have
  contradiction,  ///< another row of the source does more in half the time
  memory_rate,    ///< faster than the weights can be read
};
std::string_view name_of(Skip reason);

/// Thrown while a row is read; `what()` says what was found.
struct Skipped : std::runtime_error {
  Skipped(Skip why, const std::string& detail) : std::runtime_error(detail), reason(why) {}
  Skip reason;
};
/// Throws Skipped where the row says that it lacks something.
void require_complete(const Measurement& row);

/// The number that `text` starts with, if nothing but a unit or a remark in words follows.
std::optional<double> leading_number(std::string_view text);

/// Every record of a CSV text, whose first line names the columns. Throws std::runtime_error naming
/// `path`: there is no header, or a record's fields are not as many as the header's.
std::vector<Measurement> parse_records(std::string_view text, const std::string& path);
/// The content of a file. Throws std::runtime_error where it cannot be read or is empty.
std::string read_text(const std::string& path);

/// Every row of a file of canonical rows. Throws std::runtime_error naming the file and what is
/// missing. For a file in its source's format, the error names the converter.
std::vector<Measurement> read_measurements(const std::string& path);

/// "github:QwenLM/Qwen3@7a2f61f:docs/…" is "QwenLM/Qwen3", "unnamed-repository: notes of a rig (May
/// 2026)" is "unnamed-repository/notes-of-a-rig".
std::string short_source(std::string source);
/// The short sources of `rows`, those with the most rows first.
std::string sources_of(const std::vector<const Measurement*>& rows);

}  // namespace headroom::sweep
