// Keys of the wrong kind in real configs: every description refuses them by name or does not use
// them. None throws anything else, and none takes long.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "dotted_key.hpp"
#include "model/describe/architecture.hpp"
#include "reference.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

/// `config` with `wrong` under a dotted key; what it held where a section should be is replaced.
std::string with(json::object config, std::string_view path, const json::value& wrong) {
  std::string_view leaf;
  scope_of(config, path, leaf)[leaf] = wrong;
  return json::serialize(config);
}

/// The fault in the way in which `config` is refused. Empty if it is accepted, or refused well.
std::string complaint(const std::string& config, const std::string& key) {
  try {
    describe(parse_config(config, "config.json"));
  } catch (const ConfigError& e) {
    const std::string message = e.what();
    if (!message.starts_with("config.json: ")) return "names no file: " + message;
  } catch (const std::exception& e) {
    return fmt::format("{} is no ConfigError: {}", key, e.what());
  }
  return {};
}

TEST(WrongKeys, AreRefusedAsKeys) {
  const std::array<json::value, 7> wrong{
      "x", -1, json::object{{"a", 1}}, json::array{"x", -1}, 1e300, 1 << 29, true};
  const bool all = std::getenv("HEADROOM_ALL_WRONG_KEYS") != nullptr;  // minutes instead of seconds
  std::size_t tried = 0, bad = 0;
  for (const std::string folder : {"more", "defaults"})
    for (const auto& reference : oracle::read_references(folder)) {
      boost::system::error_code not_json;  // Python writes Infinity
      const json::value parsed = json::parse(reference.config, not_json);
      if (not_json) continue;
      const json::object& given = parsed.as_object();
      const Config config = parse_config(reference.config, reference.name);
      try {
        describe(config);
      } catch (const NotDescribed&) {
        continue;
      }
      for (const std::string& key : config.keys_read())
        for (std::size_t i = 0; i < wrong.size(); ++i) {
          // Each key of each config has its turn in a run of all; a seventieth of them here.
          if (!all && (std::hash<std::string>{}(key + reference.name) + i) % 70 != 0) continue;
          ++tried;
          const std::string text = complaint(with(given, key, wrong[i]), key);
          if (!text.empty() && ++bad <= 40)
            ADD_FAILURE() << reference.name << ' ' << key << " = " << json::serialize(wrong[i])
                          << ": " << text;
        }
    }
  fmt::print("{} wrong keys tried, {} badly refused\n", tried, bad);
  EXPECT_GT(tried, 1000u);
}

}  // namespace
}  // namespace headroom::model
