// Configs with overrides: "MODEL?num_hidden_layers=12".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <boost/json.hpp>

#include "hardware/names.hpp"
#include "model/config.hpp"
#include "sweep/sources/model_from_files.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using model::ConfigError;

/// JSON where it is JSON, else a text.
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
    (*where)[rest] = override_value(text);
  }
}

}  // namespace

model::Model model_from_config(const model::Config& plain, const FileRequest& request) {
  if (request.overrides.empty()) return model::make_model(request.name, plain, request.source);
  const std::string& origin = plain.origin();
  json::object object = plain.object();
  apply_overrides(object, request, origin);
  std::string name = request.name + '?';
  for (const auto& [key, value] : request.overrides)
    name += fmt::format("{}{}={}", name.ends_with('?') ? "" : "&", key, value);
  const model::Config config(std::move(object), origin);
  auto model = model::make_model(std::move(name), config, request.source + ", overridden");
  const auto read = config.keys_read();
  for (const auto& [key, value] : request.overrides)
    if (!read.contains(key)) {
      const std::vector<std::string> known(read.begin(), read.end());
      throw ConfigError(fmt::format("{}: override '{}' has no effect on {}; nearest keys: {}",
                                    origin, key, model.architecture,
                                    fmt::join(nearest(key, known), ", ")));
    }
  return model;
}

}  // namespace headroom::sweep
