#include "model/describe/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string_view>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "hardware/sorted_table.hpp"
#include "hardware/text.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// The table: one line for each model_type, "*" for all.
const SortedTable& fields_table() {
  static const SortedTable table(embedded_models().content("config_fields.tsv"));
  return table;
}

/// The line of `model_type`: its fields, separated by spaces. Empty: the class is not listed.
std::string_view stated_fields_of(std::string_view model_type) {
  if (model_type.empty()) return {};
  return fields_table().row(std::string(model_type) + '\t');
}

bool has_word(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool begins = at == 0 || line[at - 1] == ' ';
    const bool ends = at + word.size() == line.size() || line[at + word.size()] == ' ';
    if (begins && ends) return true;
  }
  return false;
}

/// Fields of all classes whose type starts with `model_type`. Sections often name the type of the
/// whole model ("qwen3_vl") instead of their class ("qwen3_vl_vision").
std::string fields_of_family(std::string_view model_type) {
  std::string all;
  std::string_view rows = fields_table().rows(model_type);
  while (!rows.empty()) {
    const std::string_view line = take_line(rows);
    all += ' ' + std::string(line.substr(line.find('\t') + 1));
  }
  return all;
}

/// The object at the dotted `path`; null where there is none.
const boost::json::object* object_at(const boost::json::object& root, std::string_view path) {
  const boost::json::object* here = &root;
  while (!path.empty()) {
    const auto end = std::min(path.find('.'), path.size());
    const auto* inner = here->if_contains(path.substr(0, end));
    if (inner == nullptr || !inner->is_object()) return nullptr;
    here = &inner->get_object();
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return here;
}

/// The model_type that stands in `object`.
std::string type_of(const boost::json::object* object) {
  const auto* type = object == nullptr ? nullptr : object->if_contains("model_type");
  return type && type->is_string() ? std::string(std::string_view(type->get_string()))
                                   : std::string();
}

/// True if harmless_keys.tsv has a line of `model_type` and `key` with this value or with any.
bool has_harmless(std::string_view model_type, std::string_view key, std::string_view value) {
  static const SortedTable table(embedded_models().content("harmless_keys.tsv"));
  const std::string start = fmt::format("{}\t{}\t", model_type, key);
  std::string_view rows = table.rows(start);
  while (!rows.empty()) {
    const std::string_view rest = take_line(rows).substr(start.size());
    const auto wanted = rest.substr(0, rest.find('\t'));
    if (wanted == "*" || wanted == value) return true;
  }
  return false;
}

/// True for a key of `section` that changes nothing, whatever the class or with this one.
bool is_harmless(const boost::json::object* section, std::string_view key) {
  const auto* found = section == nullptr ? nullptr : section->if_contains(key);
  if (found == nullptr) return false;
  const std::string value = boost::json::serialize(*found);
  return has_harmless("any", key, value) || has_harmless(type_of(section), key, value);
}

/// True if a quantiser wrote `section` or the section that contains it.
bool is_of_quantisation(std::string_view section) {
  for (const std::string_view name : {"quantization_config", "compression_config"})
    for (auto at = section.find(name); at != section.npos; at = section.find(name, at + 1)) {
      const auto end = at + name.size();
      if ((at == 0 || section[at - 1] == '.') && (end == section.size() || section[end] == '.'))
        return true;
    }
  return false;
}

/// Last words of the keys that were read below `section`.
std::vector<std::string> read_below(const Config& config, const std::string& section) {
  std::vector<std::string> all;
  for (const std::string& path : config.keys_read())
    if (path.starts_with(section + '.')) all.push_back(path.substr(path.rfind('.') + 1));
  return all;
}

/// `path` as an unknown key of a quantiser; empty where it is known to change nothing.
std::optional<UnknownKey> unknown_of_quantisation(const Config& config, const std::string& path) {
  const auto dot = path.rfind('.');
  const std::string section = path.substr(0, dot), key = path.substr(dot + 1);
  // Below the name of a module, which has dots, the value is not looked for.
  const json::object* object = object_at(config.object(), section);
  const json::value* value = object == nullptr ? nullptr : object->if_contains(key);
  const std::string text = value == nullptr ? std::string() : json::serialize(*value);
  if (has_harmless("quantization_config", key, text)) return std::nullopt;
  return UnknownKey{path, nearest(key, read_below(config, section))};
}

}  // namespace

std::vector<UnknownKey> unknown_keys(const Config& config) {
  const std::string_view general = stated_fields_of("*");
  std::vector<UnknownKey> all;
  std::map<std::string, std::string, std::less<>> known;  // by section; empty: nothing is known
  for (const std::string& path : config.keys_unread()) {
    const auto dot = path.rfind('.');
    const std::string section = dot == std::string::npos ? std::string() : path.substr(0, dot);
    const std::string_view key = std::string_view(path).substr(dot + 1);
    if (is_of_quantisation(section)) {
      if (auto unknown = unknown_of_quantisation(config, path)) all.push_back(std::move(*unknown));
      continue;
    }
    if (has_word(general, key)) continue;
    if (is_harmless(object_at(config.object(), section), key)) continue;
    const auto [fields, fresh] = known.emplace(section, "");
    if (fresh) {
      const std::string type = type_of(object_at(config.object(), section));
      if (section.empty())
        fields->second = stated_fields_of(type);
      else if (!type.empty())
        fields->second = fields_of_family(type);
    }
    if (fields->second.empty() || has_word(fields->second, key)) continue;
    const auto names = words(fields->second);
    all.push_back({path, nearest(key, std::vector<std::string>(names.begin(), names.end()))});
  }
  return all;
}

}  // namespace headroom::model
