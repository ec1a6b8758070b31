// Configs with overrides: "MODEL?num_hidden_layers=12".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "hardware/names.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/config.hpp"
#include "model/describe/effective_keys.hpp"
#include "sweep/sources/model_from_files.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::ConfigError;

/// JSON where it is JSON, else a text. In place of a list, a text is a list of one.
json::value override_value(const std::string& text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  return error ? json::value(text) : value;
}

void apply_overrides(json::object& object, const FileRequest& request, const std::string& origin) {
  for (const auto& [key, text] : request.overrides) {
    json::object* where = &object;
    std::string_view rest = key;
    for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
      json::value* section = where->if_contains(rest.substr(0, dot));
      if (!section || !section->is_object())
        throw ConfigError(fmt::format("{}: override '{}': the config has no section '{}'", origin,
                                      key, rest.substr(0, dot)));
      where = &section->as_object();
      rest.remove_prefix(dot + 1);
    }
    json::value value = override_value(text);
    json::value& old = (*where)[rest];
    old = value.is_string() && old.is_array() ? json::array{std::move(value)} : std::move(value);
  }
}

/// The class of the file, where it is not described and the overrides give a described one in its
/// place. Its type is then that of the other, so that keys which only the file's class has are
/// named.
std::string borrower(json::object& object, const model::Config& plain, const FileRequest& request) {
  const auto given = [&](std::string_view key) {
    return std::ranges::any_of(request.overrides,
                               [&](const auto& each) { return each.first == key; });
  };
  const std::string own =
      plain.class_name().empty() ? plain.text({"model_type"}, "unknown") : plain.class_name();
  if (!given("architectures") || !model::described_type(own).empty()) return {};
  const std::string other = model::Config(object, plain.origin()).architecture();
  if (const auto type = model::described_type(other); !type.empty() && !given("model_type"))
    object["model_type"] = type;
  return own;
}

/// The key's own name in the sections of the config, where it has an effect there, else the nearest
/// keys that have one.
std::string what_has_effect(const std::string& key, const std::set<std::string>& effective) {
  std::vector<std::string> below;
  for (const std::string& path : effective)
    if (path.ends_with('.' + key)) below.push_back(path);
  if (!below.empty()) return fmt::format("keys with an effect: {}", fmt::join(below, ", "));
  const std::vector<std::string> known(effective.begin(), effective.end());
  return fmt::format("nearest keys: {}", fmt::join(nearest(key, known), ", "));
}

}  // namespace

model::Model model_from_config(const model::Config& plain, const FileRequest& request) {
  if (request.overrides.empty()) return model::make_model(request.name, plain, request.source);
  const std::string& origin = plain.origin();
  json::object object = plain.object();
  apply_overrides(object, request, origin);
  std::string borrowed = borrower(object, plain, request);
  std::string name = request.name + '?';
  for (const auto& [key, value] : request.overrides)
    name += fmt::format("{}{}={}", name.ends_with('?') ? "" : "&", key, value);
  const model::Config config(std::move(object), origin);
  auto model = model::make_model(std::move(name), config, request.source + ", overridden");
  model.described_as_another = std::move(borrowed);
  const auto effective = model::effective_keys(config);
  for (const auto& [key, value] : request.overrides)
    if (!effective.contains(key))
      throw ConfigError(fmt::format("{}: override '{}' has no effect on {}; {}", origin, key,
                                    model.architecture, what_has_effect(key, effective)));
  return model;
}

}  // namespace headroom::sweep
