#include "sweep/sources/nearest_models.hpp"

#include <algorithm>
#include <boost/regex.hpp>
#include <string_view>

#include "hardware/names.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

/// Models that `name` may have meant.
std::vector<std::string> known_names(const std::string& name) {
  auto known = catalogue_models();
  if (name.find('/') == std::string::npos) {  // compared with names without their owner
    for (std::string& each : known) each.erase(0, each.find('/') + 1);
    for (const ShortName& row : short_names()) known.emplace_back(row.name);
  }
  return known;
}

/// "7b" of "Qwen2.5-7B-Instruct", the size that names state; empty where there is none.
std::string size_in(std::string_view name) {
  static const boost::regex size("(?:^|[^a-z0-9.])([0-9]+(?:\\.[0-9]+)?[bm])(?![a-z0-9])");
  boost::smatch found;
  const std::string text = lower(name);
  return boost::regex_search(text, found, size) ? found[1].str() : std::string();
}

}  // namespace

std::vector<std::string> nearest_models(const std::string& name) {
  const auto known = known_names(name);
  std::vector<std::string> begun, sized, all;
  const std::string size = size_in(name), asked = lower(name);
  for (const std::string& each : known) {
    if (size.empty() || size_in(each) != size) continue;
    const bool prefix = asked.starts_with(lower(each)) || lower(each).starts_with(asked);
    (prefix ? begun : sized).push_back(each);
  }
  constexpr std::size_t most = 3;
  for (const auto& names : {begun, sized, known})
    for (const std::string& each : nearest(name, names))
      if (all.size() < most && std::ranges::find(all, each) == all.end()) all.push_back(each);
  return all;
}

}  // namespace headroom::sweep
