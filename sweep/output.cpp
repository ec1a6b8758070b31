// Formats of small tables.
#include "sweep/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "report/csv.hpp"
#include "report/markdown.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/screen/terminal.hpp"
#include "sweep/stream.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

void indent(std::string& out, const json::value& value, std::size_t depth) {
  const auto children = [&](char open, char close, const auto& list, auto&& one) {
    if (list.empty()) {
      out += {open, close};
      return;
    }
    out += open;
    bool first = true;
    for (const auto& item : list) {
      out += (first ? "\n" : ",\n") + std::string(2 * (depth + 1), ' ');
      first = false;
      one(item);
    }
    out += '\n' + std::string(2 * depth, ' ') + close;
  };
  if (const auto* array = value.if_array())
    children('[', ']', *array, [&](const json::value& item) { indent(out, item, depth + 1); });
  else if (const auto* object = value.if_object())
    children('{', '}', *object, [&](const auto& item) {
      out += json::serialize(json::value(item.key())) + ": ";
      indent(out, item.value(), depth + 1);
    });
  else
    out += json::serialize(value);
}

bool is_number(const report::Value& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

}  // namespace

Format format_of(const Options& options) {
  constexpr std::string_view names[] = {"text", "json", "jsonl", "csv", "md"};
  const std::string name = options.one_of("format", names, "text");
  return static_cast<Format>(std::ranges::find(names, name) - names);
}

void refuse_details_outside_text(const Options& options, Format format) {
  if (options.given("details") && format != Format::text)
    throw UsageError("--details has no effect here: json has them always, csv and md never");
}

void refuse_sources(const Options& options, Format format) {
  options.exclusive({"sources", "details", "explain"});
  if (options.given("sources") && format != Format::text)
    throw UsageError(
        "--sources has no effect here: json has them with the terms, csv and md never");
}

void emit(const Options& options, std::string_view screen) {
  const bool paints = on_terminal(options) && options.text("format", "text") == "text" &&
                      allows_colour(std::getenv("NO_COLOR"), std::getenv("TERM"));
  const std::string safe = without_controls(screen), text = paints ? coloured(safe) : safe;
  stream(options, [&](std::ostream& out) {
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
  });
}

json::value json_value(const report::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* real = std::get_if<double>(&value))
    return std::isfinite(*real) ? json::value(*real) : json::value(nullptr);
  if (const auto* text = std::get_if<std::string>(&value)) return json::value(*text);
  return nullptr;
}

json::array json_rows(const report::Table& table) {
  json::array all;
  for (const auto& row : table.rows) {
    json::object object;
    for (std::size_t i = 0; i < table.names.size(); ++i)
      object[table.names[i]] = json_value(row[i]);
    all.push_back(std::move(object));
  }
  return all;
}

std::string pretty(const json::value& value) {
  std::string out;
  indent(out, value, 0);
  return out + '\n';
}

std::string aligned(const std::vector<std::string>& headings, const std::vector<bool>& right,
                    const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    widths.push_back(text_width(headings[i]));
    for (const auto& row : rows) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string gap(widths[i] - text_width(cells[i]), ' ');
      text += (i == 0 ? "" : "  ") + (right[i] ? gap + cells[i] : cells[i] + gap);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  };
  std::string all = line(headings);
  for (const auto& row : rows) all += line(row);
  return all;
}

std::string formatted(const report::Table& table, Format format) {
  if (format == Format::json) return pretty(json_rows(table));
  if (format == Format::jsonl) {
    std::string all;
    for (const auto& row : json_rows(table)) all += json::serialize(row) + '\n';
    return all;
  }
  if (format == Format::csv) {
    std::ostringstream out;
    report::write_csv(out, table);
    return out.str();
  }
  std::vector<bool> right(table.names.size()), words(table.names.size());
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (is_number(row[i])) right[i] = true;
      if (std::holds_alternative<std::string>(row[i])) words[i] = true;
      rows.back().push_back(readable(row[i]));
    }
  }
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = right[i] && !words[i];
  return format == Format::markdown ? report::markdown(table.names, right, rows)
                                    : aligned(table.names, right, rows);
}

std::string readable(const report::Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return grouped(*whole);
  if (const auto* real = std::get_if<double>(&value)) {
    if (std::abs(*real) >= 1e4 && std::abs(*real) < 9e18) return grouped(std::llround(*real));
    return fmt::format("{:.4g}", *real);
  }
  return report::text(value);
}

void say_if_full_model(const Options& options) {
  if (options.given("load-full-model"))
    fmt::print(stderr, "note: --load-full-model is never needed: counts are exact from metadata\n");
}

std::string grouped(Size number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string grouped(Size number, std::string_view noun) {
  return grouped(number) + ' ' + plural(number, noun);
}

std::string_view short_model_name(std::string_view name) {
  return name.substr(name.find('/') + 1);  // npos + 1 = 0
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string as_argument(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./:=,+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  return text.find_first_of("\"$`\\!") == std::string::npos ? '"' + text + '"' : shell_quoted(text);
}

std::string as_given(const Options& options, std::string_view flags) {
  std::string all;
  for (const std::string_view flag : words(flags)) {
    if (!options.given(flag)) continue;
    all += fmt::format(" --{}", flag);
    if (find_flag(flag)->takes != Takes::nothing)
      for (const std::string& value : options.texts(flag)) all += ' ' + as_argument(value);
  }
  return all;
}

std::string wrapped(std::string_view text, std::size_t first_indent, std::size_t indent) {
  std::string all, line(first_indent, ' ');
  for (const auto word : words(text)) {
    const bool first = trimmed(line).empty();
    if (!first && text_width(line) + 1 + text_width(word) > screen_width) {
      all += line + '\n';
      line.assign(indent, ' ');
    } else if (!first) {
      line += ' ';
    }
    line += word;
  }
  return all + line + '\n';
}

std::string bar(double used, double limit) {
  if (!(limit > 0)) return {};
  const auto filled = static_cast<std::size_t>(std::clamp(30.0 * used / limit, 0.0, 30.0));
  return std::string(filled, '#') + std::string(30 - filled, '.');
}

std::string three_digits(double value) {
  const double size = std::abs(value);
  if (size > 0 && size < 1e-4) {  // {:g} turns to exponents
    const int places = 2 - static_cast<int>(std::floor(std::log10(size)));
    return fmt::format("{:.{}f}", value, places);
  }
  if (!(size >= 99.95)) return fmt::format("{:.3g}", value);  // which writes 99.96 as 1e+02
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 2);
  return grouped(std::llround(std::round(value / unit) * unit));
}

std::string two_digits(double value) {
  const double size = std::abs(value);
  return size >= 1e-4 && size < 99.5 ? fmt::format("{:.2g}", value) : three_digits(value);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds)) return "never";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 120) return three_digits(seconds) + " s";
  if (seconds < 7200) return three_digits(seconds / 60) + " min";
  if (seconds < 100 * 3600) return three_digits(seconds / 3600) + " h";
  return three_digits(seconds / 86400) + " days";
}

}  // namespace headroom::sweep
