// Spellings looked up in the table of flags.
#include "sweep/options/flags.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace headroom::sweep {
namespace {

/// Calls `visit(spelling, fixed value)` for each alias of `flag` until it returns true.
template <class F>
bool any_alias(const Flag& flag, F&& visit) {
  std::string_view rest = flag.aliases;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto alias = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = alias.find('=');
    const bool fixes = equals != std::string_view::npos;
    if (visit(alias.substr(0, equals), fixes ? alias.substr(equals + 1) : std::string_view{}))
      return true;
  }
  return false;
}

}  // namespace

const Flag* find_flag(std::string_view name) {
  for (const Flag& flag : flags())
    if (flag.name == name) return &flag;
  return nullptr;
}

Spelling find_spelling(std::string_view spelling) {
  for (const Flag& flag : flags()) {
    if (spelling.starts_with("--") && spelling.substr(2) == flag.name) return {&flag, {}};
    Spelling found;
    if (any_alias(flag, [&](std::string_view alias, std::string_view fixed) {
          if (alias != spelling) return false;
          found = {&flag, fixed};
          return true;
        }))
      return found;
  }
  return {};
}

std::vector<std::string> spellings() {
  std::vector<std::string> all;
  for (const Flag& flag : flags()) {
    all.push_back("--" + std::string(flag.name));
    any_alias(flag, [&](std::string_view alias, std::string_view) {
      all.emplace_back(alias);
      return false;
    });
  }
  return all;
}

}  // namespace headroom::sweep
