// Checked reading of a config.json. Nothing is converted, guessed or silently ignored.
#include "model/describe/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <utility>

#include "model/describe/json_text.hpp"

namespace headroom::model {

namespace json = boost::json;

namespace {

/// Stands before the names of examples among the keys that were read. No name begins with it.
constexpr char example_mark = '\x1f';

constexpr Size most = Size{1} << 30;

std::string joined(Config::Keys keys) {
  std::string all;
  for (const auto key : keys) all += (all.empty() ? "'" : " or '") + std::string(key) + "'";
  return all;
}

}  // namespace

Config::Config(json::object object, std::string origin)
    : object_(std::make_shared<const json::object>(std::move(object))),
      origin_(std::move(origin)),
      read_(std::make_shared<std::set<std::string>>()) {
  if (const auto* list = object_->if_contains("architectures"))
    if (const auto* names = list->if_array())
      if (!names->empty())
        if (const auto* name = names->front().if_string())
          class_name_ = std::string(std::string_view(*name));
}

void Config::fail(std::string_view key, const std::string& what) const {
  throw ConfigError(fmt::format("{}: key '{}{}': {}", origin_, prefix_, key, what));
}

void Config::wrong(const Found& found, std::string_view expected) const {
  fail(found.key, fmt::format("found {}, expected {}", shown(*found.value), expected));
}

Config::Found Config::find(Keys keys) const {
  Found found;
  bool assumed = false;  // a key of the file may still follow
  for (const auto key : keys) {
    const std::string path = prefix_ + std::string(key);
    read_->insert(path);
    if (found.value && !assumed) continue;
    const auto* value = object_->if_contains({key.data(), key.size()});
    if (!value || value->is_null()) continue;
    const bool is_default = defaults_ && defaults_->contains(path);
    if (found.value && is_default) continue;
    found = {key, value};
    assumed = is_default;
  }
  return found;
}

Config::Found Config::need(Keys keys) const {
  const Found found = find(keys);
  if (!found.value) {
    const std::string& name = class_name_;
    throw ConfigError(fmt::format("{}: {}key {} is missing{}", origin_,
                                  prefix_.empty() ? "" : "in '" + prefix_ + "', ", joined(keys),
                                  name.empty() ? "" : ": " + name + " needs it"));
  }
  return found;
}

Size Config::whole(const Found& found, Size least) const {
  const auto expected = [&] { return fmt::format("a whole number from {} to {}", least, most); };
  // JSON does not distinguish 1200 from 1200.0, and some configs have the latter.
  Size number = -1;
  if (const auto* whole = found.value->if_int64()) number = *whole;
  const auto* real = found.value->if_double();
  if (real && *real >= 0 && *real <= static_cast<double>(most) && std::floor(*real) == *real)
    number = static_cast<Size>(*real);
  if (number < least || number > most) wrong(found, expected());
  return number;
}

Size Config::dim(Keys keys) const { return whole(need(keys), 1); }
Size Config::dim(Keys keys, Size fallback) const {
  const Found found = find(keys);
  return found.value ? whole(found, 1) : fallback;
}
Size Config::count(Keys keys) const { return whole(need(keys), 0); }
Size Config::count(Keys keys, Size fallback) const {
  const Found found = find(keys);
  return found.value ? whole(found, 0) : fallback;
}

Size Config::dim_or_none(Keys keys, Size fallback) const {
  const Found found = find(keys);
  if (found.value) return whole(found, 1);
  for (const auto key : keys)
    if (object_->contains({key.data(), key.size()})) return 0;
  return fallback;
}

double Config::number(Keys keys, double fallback) const {
  const Found found = find(keys);
  if (!found.value) return fallback;
  if (!found.value->is_number()) wrong(found, "a number");
  return found.value->to_number<double>();
}

bool Config::flag(Keys keys, bool fallback) const {
  const Found found = find(keys);
  if (!found.value)
    return fallback && std::none_of(keys.begin(), keys.end(), [&](std::string_view key) {
             return object_->contains({key.data(), key.size()});
           });
  if (!found.value->is_bool()) wrong(found, "true or false");
  return found.value->get_bool();
}

std::string Config::text(Keys keys) const {
  const Found found = need(keys);
  if (!found.value->is_string()) wrong(found, "a string");
  return std::string(std::string_view(found.value->get_string()));
}
std::string Config::text(Keys keys, std::string_view fallback) const {
  return find(keys).value ? text(keys) : std::string(fallback);
}

std::vector<Size> Config::dims(Keys keys) const {
  const Found found = find(keys);
  std::vector<Size> all;
  if (!found.value) return all;
  if (!found.value->is_array()) wrong(found, "a list of whole numbers");
  for (const auto& value : found.value->get_array()) all.push_back(whole({found.key, &value}, 0));
  return all;
}

std::vector<double> Config::numbers(Keys keys) const {
  const Found found = find(keys);
  std::vector<double> all;
  if (!found.value) return all;
  if (!found.value->is_array()) wrong(found, "a list of numbers");
  for (const auto& value : found.value->get_array()) {
    if (!value.is_number()) wrong({found.key, &value}, "a list of numbers");
    all.push_back(value.to_number<double>());
  }
  return all;
}

std::vector<std::string> Config::texts(Keys keys) const {
  const Found found = find(keys);
  std::vector<std::string> all;
  if (!found.value) return all;
  if (!found.value->is_array()) wrong(found, "a list of strings");
  for (const auto& value : found.value->get_array()) {
    if (!value.is_string()) wrong({found.key, &value}, "a list of strings");
    all.emplace_back(std::string_view(value.get_string()));
  }
  return all;
}

bool Config::is_whole(std::string_view key) const {
  const auto* value = object_->if_contains(key);
  return value != nullptr && value->is_int64();
}

bool Config::has(std::string_view key) const { return find({key}).value != nullptr; }

Config Config::section(std::string_view key) const {
  const Found found = need({key});
  if (!found.value->is_object()) wrong(found, "an object");
  Config inner = *this;
  inner.object_ = {object_, &found.value->get_object()};  // shared: sections may be large
  inner.prefix_ += std::string(key) + '.';
  return inner;
}

Config Config::example(std::string_view key) const {
  read_->insert(prefix_ + example_mark + std::string(key));
  return section(key);
}

Config Config::section_or_empty(std::string_view key) const {
  if (has(key)) return section(key);
  Config inner({}, origin_);
  inner.prefix_ = prefix_ + std::string(key) + '.';
  inner.read_ = read_;
  inner.class_name_ = class_name_;
  return inner;
}

std::string Config::architecture() const {
  const auto names = texts({"architectures"});
  if (names.empty()) need({"architectures"}), fail("architectures", "found an empty list");
  return names.front();
}

Config Config::as_class(std::string_view name) const {
  Config copy = *this;
  copy.class_name_ = name;
  return copy;
}

json::object Config::object() const&& { return *object_; }

Config Config::without(std::string_view key) const {
  if (!object_->contains(key)) return *this;
  json::object others(json_storage());
  for (const auto& [name, value] : *object_)
    if (name != key) others.emplace(name, value);
  Config copy = *this;
  copy.object_ = std::make_shared<const json::object>(std::move(others));
  return copy;
}

Config Config::with_defaults(const json::object& defaults) const {
  const auto known = [&](const auto& entry) { return object_->contains(entry.key()); };
  if (std::all_of(defaults.begin(), defaults.end(), known)) return *this;
  json::object all(*object_, json_storage());
  auto assumed = std::make_shared<std::set<std::string>>();
  if (defaults_) *assumed = *defaults_;
  for (const auto& [key, value] : defaults)
    if (all.emplace(key, value).second) assumed->insert(prefix_ + std::string(key));
  Config copy = *this;
  copy.object_ = std::make_shared<const json::object>(std::move(all));
  copy.defaults_ = std::move(assumed);
  return copy;
}

Config Config::renamed(const json::object& names) const {
  const auto differs = [&](const auto& name) {
    return object_->contains(name.key()) && name.key() != name.value().as_string();
  };
  if (std::none_of(names.begin(), names.end(), differs)) return *this;
  json::object all(*object_, json_storage());
  for (const auto& [name, own] : names)
    if (const json::value* value = object_->if_contains(name); value && name != own.as_string()) {
      all[own.as_string()] = *value;
      all.erase(name);
      read_->insert(prefix_ + std::string(name));
    }
  Config copy = *this;
  copy.object_ = std::make_shared<const json::object>(std::move(all));
  return copy;
}

std::set<std::string> Config::keys_read() const {
  std::set<std::string> keys = *read_;
  std::erase_if(keys, [](const std::string& key) { return key.find(example_mark) != key.npos; });
  return keys;
}

std::vector<std::string> Config::keys_unread() const {
  std::vector<std::string> all;
  const auto walk = [&](const auto& self, const json::object& object,
                        const std::string& prefix) -> void {
    const std::string example = prefix + example_mark;
    if (auto at = read_->lower_bound(example); at != read_->end() && at->starts_with(example)) {
      for (; at != read_->end() && at->starts_with(example); ++at) {
        const std::string name = at->substr(example.size());
        self(self, object.at(name).get_object(), prefix + name + '.');
      }
      return;
    }
    for (const auto& [key, value] : object) {
      const std::string path = prefix + std::string(key);
      const auto below = read_->lower_bound(path + '.');
      if (value.is_object() && below != read_->end() && below->starts_with(path + '.'))
        self(self, value.get_object(), path + '.');
      else if (!read_->contains(path))
        all.push_back(path);
    }
  };
  walk(walk, *object_, prefix_);
  return all;
}

}  // namespace headroom::model
