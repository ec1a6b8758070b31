// What commands print: one text at the end, to standard output or to a file that is whole or
// absent.
#pragma once

#include <boost/json/fwd.hpp>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "report/table.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

enum class Format { text, json, jsonl, csv, markdown };

/// --format; throws UsageError for one that is not known.
Format format_of(const Options& options);

/// Writes `text` to --out, or to standard output. Throws std::runtime_error when it cannot be
/// written; a file is then left as it was.
void emit(const Options& options, std::string_view text);

/// The same for what is too large to hold: `write` gets the stream. A file appears whole or not at
/// all.
void stream(const Options& options, const std::function<void(std::ostream&)>& write);

/// A table in a format: numbers exact in csv, json and jsonl, whole ones everywhere;
/// `text` aligned.
std::string formatted(const report::Table& table, Format format);
/// The rows as objects.
boost::json::array json_rows(const report::Table& table);
boost::json::value json_value(const report::Value& value);
/// With line breaks and two spaces of indentation, for readers.
std::string pretty(const boost::json::value& value);
/// Columns side by side; `right` says which are right-aligned.
std::string aligned(const std::vector<std::string>& headings, const std::vector<bool>& right,
                    const std::vector<std::vector<std::string>>& rows);

/// Says on standard error that --load-full-model is never needed, where it was given.
void say_if_full_model(const Options& options);

/// "2,779,683,840".
std::string grouped(Size number);
/// Three significant digits in ms, s, min or h; "never" where infinite.
std::string duration(double seconds);

}  // namespace headroom::sweep
