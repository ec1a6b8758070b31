// Reading configs. Error messages name the file, the key, the value found and the value expected.
#include "model/describe/config.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <functional>

namespace headroom::model {
namespace {

Config config(std::string_view json) { return parse_config(json, "a/config.json"); }

/// The message of the ConfigError that `f` throws.
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "nothing thrown";
}

/// A temporary's object is a copy: it outlives the section (the address sanitizer checks that).
TEST(Config, ObjectOfATemporarySectionCanBeReadInALoop) {
  const Config config = parse_config(R"({"section": {"a": 1, "b": 2}})", "config.json");
  std::string keys;
  for (const auto& [key, value] : config.section_or_empty("section").object())
    keys += std::string_view(key);
  EXPECT_EQ(keys, "ab");
}

TEST(Config, RefusesAllButWholeNumbersInRange) {
  const auto found = [](std::string_view value) {
    const Config c = config("{\"n\": " + std::string(value) + "}");
    return message([&] { c.dim({"n"}); });
  };
  const std::string rest = ", expected a whole number from 1 to 1073741824";
  const std::string start = "a/config.json: key 'n': found ";
  EXPECT_EQ(found("-3"), start + "-3" + rest);
  EXPECT_EQ(found("0"), start + "0" + rest);
  EXPECT_EQ(found("1073741825"), start + "1073741825" + rest);
  EXPECT_EQ(found("99999999999999999999"), start + "1E20" + rest);
  EXPECT_EQ(found("18446744073709551615"), start + "18446744073709551615" + rest);
  EXPECT_EQ(found("\"4096\""), start + "\"4096\"" + rest);
  EXPECT_EQ(found("true"), start + "true" + rest);
  EXPECT_EQ(found("[1, 2]"), start + "[1,2]" + rest);
  EXPECT_EQ(found("{}"), start + "an object" + rest);
  EXPECT_EQ(found("Infinity"), start + "\"Infinity\"" + rest);
  EXPECT_NE(found("40.5").find("found 4.05E1, expected"), std::string::npos);
  EXPECT_EQ(config(R"({"n": 1073741824})").dim({"n"}), Size{1} << 30);
  EXPECT_EQ(config(R"({"n": 0})").count({"n"}), 0);
}

TEST(Config, NamesTheArchitectureThatNeedsAMissingKey) {
  const Config c = config(R"({"architectures": ["LlamaForCausalLM"]})");
  EXPECT_EQ(message([&] {
              c.dim({"n_embd", "hidden_size"});
            }),
            "a/config.json: key 'n_embd' or 'hidden_size' is missing: LlamaForCausalLM needs it");
}

TEST(Config, TakesTheFirstAliasPresentAndReadsNullAsAbsent) {
  const Config c = config(R"({"n_embd": null, "hidden_size": 64, "d_model": 32})");
  EXPECT_EQ(c.dim({"n_embd", "hidden_size", "d_model"}), 64);
  EXPECT_EQ(c.dim({"n_embd"}, 7), 7);
  EXPECT_FALSE(c.has("n_embd"));
}

TEST(Config, TellsNullFromAbsentWhereTheyDiffer) {
  const Config c = config(R"({"sliding_window": null})");
  EXPECT_EQ(c.dim_or_none({"sliding_window"}, 4096), 0);
  EXPECT_EQ(c.dim_or_none({"other"}, 4096), 4096);
}

TEST(Config, NamesKeysOfSectionsByTheirPath) {
  const Config c = config(R"({"text_config": {"hidden_size": "x"}, "vision_config": 3})");
  EXPECT_NE(message([&] {
              c.section("text_config").dim({"hidden_size"});
            }).find("key 'text_config.hidden_size': found \"x\""),
            std::string::npos);
  EXPECT_NE(message([&] { c.section("vision_config"); }).find("found 3, expected an object"),
            std::string::npos);
  EXPECT_NE(message([&] { c.section("audio_config"); }).find("'audio_config' is missing"),
            std::string::npos);
}

TEST(Config, RemembersTheKeysItWasAskedFor) {
  const Config c = config(R"({"a": 1, "s": {"b": 2}})");
  c.dim({"a"});
  c.section("s").dim({"b", "c"}, 1);
  EXPECT_EQ(c.keys_read(), (std::set<std::string>{"a", "s", "s.b", "s.c"}));
}

TEST(Config, ChecksFlagsTextsAndLists) {
  const Config c = config(R"({"flag": "true", "text": 3, "list": [1, "2"], "names": [1]})");
  EXPECT_NE(message([&] { c.flag({"flag"}, false); }).find("expected true or false"),
            std::string::npos);
  EXPECT_NE(message([&] { c.text({"text"}); }).find("found 3, expected a string"),
            std::string::npos);
  EXPECT_NE(message([&] { c.dims({"list"}); }).find("found \"2\""), std::string::npos);
  EXPECT_NE(message([&] { c.texts({"names"}); }).find("found 1"), std::string::npos);
}

TEST(Config, RefusesWhatIsNotAnObjectOfBoundedSizeAndDepth) {
  EXPECT_NE(message([] { config("[]"); }).find("expected an object"), std::string::npos);
  EXPECT_NE(message([] { config("{\"a\": "); }).find("a/config.json:1: not JSON"),
            std::string::npos);
  EXPECT_NE(message([] { config(""); }).find("not JSON"), std::string::npos);
  const std::string deep = "{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}";
  EXPECT_NE(message([&] { config(deep); }).find("not JSON"), std::string::npos);
  EXPECT_NE(message([] {
              config(std::string((std::size_t{32} << 20) + 1, ' '));
            }).find("33554433 bytes, a config.json has at most 33554432"),
            std::string::npos);
}

TEST(Config, KeepsWordsLikeNaNInsideStrings) {
  const Config c = config(R"({"text": "NaN \"Infinity", "limit": [0.0, Infinity]})");
  EXPECT_EQ(c.text({"text"}), "NaN \"Infinity");
}

TEST(Config, MultipliesWithoutWrapping) {
  EXPECT_EQ(times({3, 4, 5}), 60);
  EXPECT_THROW(times({Size{1} << 30, Size{1} << 30, 8}), std::overflow_error);
}

}  // namespace
}  // namespace headroom::model
