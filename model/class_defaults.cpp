#include "model/class_defaults.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "hardware/embedded.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// The rest of the line that starts with `model_type`: defaults, a tab, names. Empty: no such line.
std::string_view line_of(std::string_view table, std::string_view model_type) {
  while (!table.empty()) {
    const auto end = std::min(table.find('\n'), table.size());
    const std::string_view line = table.substr(0, end);
    if (line.starts_with(model_type) && line.substr(model_type.size()).starts_with('\t'))
      return line.substr(model_type.size() + 1);
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return {};
}

std::string_view table() {
  for (const EmbeddedFile& file : embedded_models())
    if (file.name == "class_defaults.tsv") return file.bytes;
  return {};
}

}  // namespace

Config with_class_defaults(const Config& c, std::string_view model_type) {
  const std::string_view line = line_of(table(), model_type);
  if (line.empty()) return c;
  const auto tab = line.find('\t');
  json::object defaults = json::parse(line.substr(0, tab)).as_object();
  // A key under another name of it: the value of that.
  const json::value names = json::parse(line.substr(tab + 1));
  for (const auto& [name, own] : names.as_object())
    if (const json::value* value = c.object().if_contains(name)) defaults[own.as_string()] = *value;
  return c.with_defaults(defaults);
}

}  // namespace headroom::model
