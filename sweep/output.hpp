// Formats of what commands print, and the text as a whole: on standard output, or in a file that is
// complete or absent.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "report/table.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

enum class Format { text, json, jsonl, csv, markdown };

/// The format of --format. Throws UsageError for an unknown one.
Format format_of(const Options& options);
/// Throws UsageError for --details with a format that has them always or never.
void refuse_details_outside_text(const Options& options, Format format);
/// Throws UsageError for --sources in another form than text, or beside --details or --explain.
void refuse_sources(const Options& options, Format format);

/// Writes `text` to --out, or to standard output, with colours where a terminal allows them. Throws
/// std::runtime_error when it cannot be written. A file then stays as it was.
void emit(const Options& options, std::string_view text);

/// A table in a format. Numbers are exact in csv, json and jsonl. Whole numbers are exact in every
/// format. `text` has aligned columns.
std::string formatted(const report::Table& table, Format format);
/// A cell as people read it: whole numbers grouped, others with four digits.
std::string readable(const report::Value& value);
/// The rows as objects.
boost::json::array json_rows(const report::Table& table);
boost::json::value json_value(const report::Value& value);
/// JSON with line breaks and two spaces of indentation.
std::string pretty(const boost::json::value& value);
/// Columns side by side. `right` says which are aligned to the right.
std::string aligned(const std::vector<std::string>& headings, const std::vector<bool>& right,
                    const std::vector<std::vector<std::string>>& rows);

/// The part of a model's name after its owner.
std::string_view short_model_name(std::string_view name);
/// `text` as one word of a POSIX shell: in quotes, for scripts.
std::string shell_quoted(std::string_view text);
/// `text` as one word of a command line for people: in quotes where it needs them.
std::string as_argument(const std::string& text);
/// Those of `flags` that were given, for a command line: " --batch 8 --machine \"2x l4\"".
std::string as_given(const Options& options, std::string_view flags);

/// Columns of the screen that texts are written for.
inline constexpr std::size_t screen_width = 100;
/// `text` in lines of at most that many columns: the first behind `first_indent` spaces, the others
/// behind `indent`.
std::string wrapped(std::string_view text, std::size_t first_indent, std::size_t indent);
/// 30 characters, as full as the limit; empty where there is none.
std::string bar(double used, double limit);

/// Says on standard error that --load-full-model is never needed, if it was given.
void say_if_full_model(const Options& options);

/// "2,779,683,840".
std::string grouped(Size number);
/// "1 row", "1,200 rows".
std::string grouped(Size number, std::string_view noun);
/// Three significant digits without an exponent: "0.292", "38.9", "1,470".
std::string three_digits(double value);
/// Two of them below 99.5, else three.
std::string two_digits(double value);
/// Three significant digits in ms, s, min, h or days; "never" for infinity.
std::string duration(double seconds);

}  // namespace headroom::sweep
