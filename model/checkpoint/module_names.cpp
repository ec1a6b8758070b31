// Patterns for module names in a quantisation_config (model/checkpoint/checkpoint.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <boost/regex.hpp>
#include <utility>

#include "model/checkpoint/checkpoint.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view key = "quantization_config";
/// Prefixes of a text model's layers in various classes. A checkpoint may write "backbone.layers.3"
/// for the class's "model.layers.3".
constexpr std::string_view containers[] = {"model.", "backbone.", "transformer.", "language_model.",
                                           "text_model."};

/// `name` without leading containers.
std::string_view inner(std::string_view name) {
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view container : containers)
      if (name.starts_with(container)) {
        name.remove_prefix(container.size());
        again = true;
      }
  }
  return name;
}

bool is_or_is_above(std::string_view name, std::string_view path) {
  return path.starts_with(name) && (path.size() == name.size() || path[name.size()] == '.');
}

/// "layers.*.mixer" as an expression that allows any containers before it.
std::string of_wildcard(std::string_view pattern) {
  std::string regex = "(?:(?:model|backbone|transformer|language_model|text_model)\\.)*";
  for (const char c : inner(pattern))
    regex += c == '*' ? ".*" : c == '.' ? "\\." : std::string(1, c);
  return regex;
}

}  // namespace

struct ModuleNames::Expressions {
  std::vector<boost::regex> all;
};

ModuleNames::ModuleNames(const std::vector<std::string>& patterns) {
  Expressions expressions;
  for (const std::string& pattern : patterns) {
    const bool expression = pattern.starts_with("re:");
    std::string regex;
    if (expression || pattern.find_first_of("\\()[]|+?^$") != std::string::npos) {
      regex = expression ? pattern.substr(3) : pattern;
    } else if (pattern.find('*') != std::string::npos) {
      regex = of_wildcard(pattern);
    } else {
      plain_.push_back(pattern);
      continue;
    }
    try {
      expressions.all.emplace_back("(?:" + regex + ")(\\..*)?");
    } catch (const boost::regex_error& error) {
      throw ConfigError(fmt::format("{}: module pattern '{}': {}", key, pattern, error.what()));
    }
  }
  expressions_ = std::make_shared<const Expressions>(std::move(expressions));
}

bool ModuleNames::contain(std::string_view path) const {
  const std::string_view inside = inner(path);
  for (const std::string& name : plain_)
    if (path.ends_with(name) || is_or_is_above(name, path) || is_or_is_above(inner(name), inside))
      return true;
  try {
    for (const boost::regex& expression : expressions_->all)
      if (boost::regex_match(path.begin(), path.end(), expression)) return true;
  } catch (const std::runtime_error& error) {  // the pattern takes too many steps
    throw ConfigError(fmt::format("{}: module patterns on '{}': {}", key, path, error.what()));
  }
  return false;
}

bool ModuleNames::contain_expert_of(std::string_view path) const {
  const std::string below = std::string(inner(path)) + '.';
  return std::ranges::any_of(
      plain_, [&](const std::string& name) { return inner(name).starts_with(below); });
}

}  // namespace headroom::model
