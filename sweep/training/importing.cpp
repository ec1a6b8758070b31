#include "sweep/training/importing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/text.hpp"

namespace headroom::sweep {

const Setting* Settings::find(std::string_view key) const {
  const auto found = std::ranges::find(all, key, &Setting::key);
  return found != all.end() ? &*found : nullptr;
}

const Setting* Settings::first_of(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys)
    if (const Setting* found = find(key)) return found;
  return nullptr;
}

bool says_yes(std::string_view value) {
  const std::string word = lower(value);
  return std::ranges::count(headroom::words("y yes t true on 1"), word) > 0;
}

bool Settings::is_on(std::string_view key) const {
  const Setting* setting = find(key);
  return setting != nullptr && says_yes(setting->value);
}

void Importing::ignore(const std::string& key, std::string_view why, Ignored::Matters matters) {
  out_.ignored.push_back({key, std::string(why), matters});
}

void Importing::supply(std::string_view flag, const std::string& value, std::string_view why) {
  if (flag == "model" && !options_.operands().empty())
    return ignore(std::string(why), "the command line names a model", Ignored::Matters::no);
  if (flag == "precision" && (options_.given("recipe") || options_.given("mixed-precision")))
    return;
  if (options_.supply(flag, value == "on" ? "" : value))
    out_.taken.push_back(fmt::format("--{}{}{} ({})", flag, value == "on" ? "" : " ",
                                     value == "on" ? "" : value, why));
  else if (options_.text(flag) != value && value != "on")
    ignore(std::string(why), fmt::format("--{} {} is given", flag, options_.text(flag)),
           Ignored::Matters::no);
}

void Importing::supply_for(const Setting& setting, std::string_view flag,
                           const std::string& value) {
  if (!options_.given(flag))
    out_.keys.emplace(flag, fmt::format("{}: key '{}'", setting.file, setting.key));
  supply(flag, value, setting.key);
}

void refuse_setting(const Setting& setting, std::string_view why, std::string_view expected) {
  throw UsageError(fmt::format("{}: key '{}': found '{}', expected {}{}{}", setting.file,
                               setting.key, setting.value, expected, why.empty() ? "" : ": ", why));
}

std::string Imported::naming_key(const std::string& message) const {
  for (const auto& [flag, key] : keys)
    if (const std::string start = "--" + flag;
        message.starts_with(start + ':') || message.starts_with(start + ' '))
      return key + message.substr(start.size());
  return message;
}

std::string Imported::every_ignored() const {
  std::vector<std::string> each;
  for (const Ignored& one : ignored) each.push_back(fmt::format("{} ({})", one.key, one.why));
  return fmt::format("ignored in the file: {}", fmt::join(each, ", "));
}

std::string Imported::ignored_in_short() const {
  constexpr std::size_t most_named = 4;
  std::vector<std::string> named;
  std::size_t matter = 0;
  for (const Ignored& one : ignored)
    if (one.matters == Ignored::Matters::yes && ++matter <= most_named) named.push_back(one.key);
  std::string text = fmt::format("{} {} of the file ignored", ignored.size(),
                                 ignored.size() == 1 ? "key" : "keys");
  if (matter > 0)
    text += fmt::format(", {} of them not counted: {}{}", matter, fmt::join(named, ", "),
                        matter > most_named ? " and more" : "");
  return text + " (--details has all)";
}

}  // namespace headroom::sweep
