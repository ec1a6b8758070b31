// Patterns for module names in a quantisation_config (model/checkpoint/checkpoint.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/regex.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
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

/// Patterns that are compared as they stand, by what follows these words.
constexpr std::string_view part_prefix = "part:", end_prefix = "end:", path_prefix = "is:";

bool is_literal(std::string_view pattern) {
  return pattern.starts_with(part_prefix) || pattern.starts_with(end_prefix) ||
         pattern.starts_with(path_prefix);
}

/// Calls `known` with `name` and with what is left of it below each of its leading containers,
/// until one is.
template <class Known>
bool inside_containers(std::string_view name, Known&& known) {
  for (bool again = true; again;) {
    if (known(name)) return true;
    again = false;
    for (const std::string_view container : containers)
      if (name.starts_with(container)) {
        name.remove_prefix(container.size());
        again = true;
        break;
      }
  }
  return false;
}

/// True if `text` matches `pattern`, in which a star stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (auto next = pattern.find('*'); next != std::string_view::npos; next = pattern.find('*')) {
    const auto at = text.find(pattern.substr(0, next));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + next);
    pattern.remove_prefix(next + 1);
  }
  return text.ends_with(pattern);
}

/// Texts that are looked for at a given end of a path, or anywhere in it. The cost of a question
/// depends on the path and on how many lengths the texts have, not on how many texts there are.
class NameTexts {
 public:
  void add(std::string_view text) {
    if (!all_.insert(text).second) return;
    if (text.empty())
      for (std::uint64_t& lengths : lengths_by_first_) lengths |= 1;
    else
      lengths_by_first_[static_cast<unsigned char>(text.front())] |= bit_of(text);
    if (std::ranges::find(lengths_, text.size()) == lengths_.end()) lengths_.push_back(text.size());
    if (starts_.empty() || start_of(text) != last_start_) starts_.insert(start_of(text));
    last_start_ = start_of(text);
  }
  /// Makes room for that many texts.
  void reserve(std::size_t texts) { all_.reserve(texts); }
  bool contain(std::string_view text) const {
    if (text.empty()) return all_.contains(text);
    return (lengths_by_first_[static_cast<unsigned char>(text.front())] & bit_of(text)) != 0 &&
           all_.contains(text);
  }
  bool empty() const { return all_.empty(); }
  bool contain_end_of(std::string_view path) const {
    return std::ranges::any_of(lengths_, [&](std::size_t length) {
      return length <= path.size() && contain(path.substr(path.size() - length));
    });
  }
  bool contain_start_of(std::string_view path) const {
    return std::ranges::any_of(lengths_, [&](std::size_t length) {
      return length <= path.size() && contain(path.substr(0, length));
    });
  }
  bool contain_part_of(std::string_view path) const {
    for (; !all_.empty() && !path.empty(); path.remove_prefix(1)) {
      if (!may_begin(path) || !may_start(path)) continue;
      for (const std::size_t length : lengths_)
        if (length <= path.size() && contain(path.substr(0, length))) return true;
    }
    return false;
  }

 private:
  using Set = boost::unordered_flat_set<std::string_view, std::hash<std::string_view>>;

  static std::uint64_t bit_of(std::string_view text) {
    return std::uint64_t{1} << std::min<std::size_t>(text.size(), 63);
  }
  static std::string_view start_of(std::string_view text) { return text.substr(0, 4); }
  /// False for text with a first character that no text here has: most places are so.
  bool may_begin(std::string_view text) const {
    return text.empty() || lengths_by_first_[static_cast<unsigned char>(text.front())] != 0;
  }
  /// False for a place where no text begins. Texts may be shorter than a usual start.
  bool may_start(std::string_view rest) const {
    for (std::size_t length = 0; length <= std::min<std::size_t>(rest.size(), 4); ++length)
      if (starts_.contains(rest.substr(0, length))) return true;
    return false;
  }

  Set all_, starts_;
  std::string_view last_start_;  ///< the start of the text before, as neighbours begin alike
  std::vector<std::size_t> lengths_;
  /// A bit for each length of the texts that begin with a character; bit 63 for all longer ones.
  std::array<std::uint64_t, 256> lengths_by_first_{};
};

/// An expression for what `regex` matches, and for all below it.
std::string below(std::string_view regex) { return fmt::format("(?:{})(\\..*)?", regex); }

/// Characters of expressions that neither names nor wildcards have.
constexpr std::array<bool, 256> special_characters() {
  std::array<bool, 256> all{};
  for (const char c : std::string_view("\\()[]|+?^$")) all[static_cast<unsigned char>(c)] = true;
  return all;
}

/// The pattern as an expression; empty for one that is compared without. No name begins with a dot,
/// so that ".*gate" is an expression and no wildcard.
std::string expression_of(std::string_view pattern) {
  static constexpr auto special = special_characters();
  if (pattern.starts_with("re:")) return below(pattern.substr(3));
  if (pattern.starts_with(".*")) return below(pattern);
  const bool any =
      std::ranges::any_of(pattern, [&](char c) { return special[static_cast<unsigned char>(c)]; });
  return any && !is_literal(pattern) ? below(pattern) : std::string();
}

boost::regex compiled(const std::string& expression, std::string_view pattern) {
  try {
    return boost::regex(expression);
  } catch (const boost::regex_error& error) {
    throw ConfigError(fmt::format("{}: module pattern '{}': {}", key, pattern, error.what()));
  }
}

}  // namespace

struct ModuleNames::Compiled {
  explicit Compiled(std::vector<std::string> list) : patterns(std::move(list)) {
    for (NameTexts* each : {&names, &inside}) each->reserve(patterns.size());
    for (const std::string& pattern : patterns) add(pattern);
  }
  bool contain(std::string_view path) const;

  std::vector<std::string> patterns;  ///< the texts below are parts of these
  NameTexts names;                    ///< whole names
  NameTexts inside;                   ///< names that have containers, without them
  NameTexts above;                    ///< paths above a name, without containers
  NameTexts parts, ends, paths;
  NameTexts starts;                    ///< text before a star, without containers
  std::vector<std::string> wildcards;  ///< with stars elsewhere, without containers
  std::vector<boost::regex> expressions;

 private:
  void add(std::string_view pattern);
};

void ModuleNames::Compiled::add(std::string_view pattern) {
  if (const std::string expression = expression_of(pattern); !expression.empty()) {
    expressions.push_back(compiled(expression, pattern));
    return;
  }
  for (const auto& [prefix, texts] : {std::pair{part_prefix, &parts}, std::pair{end_prefix, &ends},
                                      std::pair{path_prefix, &paths}})
    if (pattern.starts_with(prefix)) return texts->add(pattern.substr(prefix.size()));
  std::string_view rest = inner(pattern);
  if (const auto star = rest.find('*'); star != std::string_view::npos) {
    if (star + 1 == rest.size())
      starts.add(rest.substr(0, star));
    else
      wildcards.insert(wildcards.end(), {std::string(rest), std::string(rest) + ".*"});
    return;
  }
  names.add(pattern);
  if (rest.size() < pattern.size()) inside.add(rest);
  for (auto dot = rest.rfind('.'); dot != std::string_view::npos; dot = rest.rfind('.')) {
    rest = rest.substr(0, dot);
    if (above.contain(rest)) break;  // then all above it are known, too
    above.add(rest);
  }
}

bool ModuleNames::Compiled::contain(std::string_view path) const {
  const std::string_view within = inner(path);
  const auto or_above = [](std::string_view all, auto&& known) {
    for (auto end = all.find('.'); end != std::string_view::npos; end = all.find('.', end + 1))
      if (known(all.substr(0, end))) return true;
    return known(all);
  };
  if (names.contain_end_of(path) ||
      or_above(path, [&](std::string_view name) { return names.contain(name); }) ||
      or_above(within, [&](std::string_view name) {
        return inside.contain(name) || (names.contain(name) && inner(name).size() == name.size());
      }))
    return true;
  const auto as_wildcard = [&](std::string_view rest) {
    return starts.contain_start_of(rest) ||
           std::ranges::any_of(wildcards, [&](const auto& each) { return matches(each, rest); });
  };
  if (inside_containers(path, as_wildcard)) return true;
  if (paths.contain(path) || ends.contain_end_of(path) || parts.contain_part_of(path)) return true;
  return std::ranges::any_of(expressions, [&](const boost::regex& expression) {
    return boost::regex_match(path.begin(), path.end(), expression);
  });
}

ModuleNames::ModuleNames(std::vector<std::string> patterns)
    : compiled_(std::make_shared<const Compiled>(std::move(patterns))) {}

bool ModuleNames::contain(std::string_view path) const {
  try {
    return compiled_->contain(path);
  } catch (const std::runtime_error& error) {  // the pattern takes too many steps
    throw ConfigError(fmt::format("{}: module patterns on '{}': {}", key, path, error.what()));
  }
}

bool ModuleNames::contain_expert_of(std::string_view path) const {
  return compiled_->above.contain(inner(path));
}

void check_module_names(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns)
    if (const std::string expression = expression_of(pattern); !expression.empty())
      compiled(expression, pattern);
}

}  // namespace headroom::model
