// From the text of a config.json to a Config.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "model/describe/config.hpp"
#include "model/describe/json_text.hpp"

namespace headroom::model {

namespace json = boost::json;

namespace {

constexpr std::size_t max_bytes = std::size_t{32} << 20;
constexpr std::size_t most_depth = 32;

/// Python writes NaN and Infinity, which are not JSON. They become strings, so that reading one as
/// a number fails with its text.
std::string quote_non_finite(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      bool found = false;
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (!text.substr(i).starts_with(word)) continue;
        out += '"' + std::string(word) + '"';
        i += word.size() - 1;
        found = true;
        break;
      }
      if (found) continue;
    }
    out += text[i];
  }
  return out;
}

/// The line at which `text` stops being JSON.
std::ptrdiff_t line_of_error(std::string_view text) {
  json::parse_options options;
  options.max_depth = most_depth;
  json::parser parser({}, options);
  boost::system::error_code error;
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  return 1 + std::ranges::count(text.substr(0, read), '\n');
}

}  // namespace

json::storage_ptr json_storage() { return json::make_shared_resource<json::monotonic_resource>(); }

std::string shown(const json::value& value) {
  if (value.is_object()) return "an object";
  std::string text = value.is_array() && value.get_array().size() > 8
                         ? fmt::format("a list of {}", value.get_array().size())
                         : json::serialize(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

Config parse_config(std::string_view text, std::string origin) {
  if (text.size() > max_bytes)
    throw ConfigError(
        fmt::format("{}: {} bytes, a config.json has at most {}", origin, text.size(), max_bytes));
  json::parse_options options;
  options.max_depth = most_depth;
  boost::system::error_code error;
  const bool finite = text.find("NaN") == text.npos && text.find("Infinity") == text.npos;
  const std::string quoted = finite ? std::string() : quote_non_finite(text);
  json::value value =
      json::parse(finite ? text : std::string_view(quoted), error, json_storage(), options);
  if (error)
    throw ConfigError(fmt::format("{}:{}: not JSON: {}; expected the config.json of a model",
                                  origin, line_of_error(finite ? text : std::string_view(quoted)),
                                  error.message()));
  if (!value.is_object())
    throw ConfigError(fmt::format("{}: found {}, expected an object", origin, shown(value)));
  return Config(std::move(value.get_object()), std::move(origin));
}

}  // namespace headroom::model
