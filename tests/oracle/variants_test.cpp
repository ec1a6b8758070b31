// Described architectures under configs that differ from their class's defaults in one key or a
// few: left out, null, or of another value (tests/oracle/vary.py). Names, shapes, order, buffers,
// ties, module tree, what must not be split, totals and caches are those of transformers, by
// checksum.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstdlib>

#include "archive.hpp"
#include "dotted_key.hpp"
#include "model/describe/architecture.hpp"
#include "part_lines.hpp"

namespace headroom::model {
namespace {

namespace json = boost::json;

Size checksum(const oracle::Lines& lines) {
  boost::crc_32_type crc;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) crc.process_byte('\n');
    crc.process_bytes(lines[i].data(), lines[i].size());
  }
  return crc.checksum();
}

/// The base with `change`: {"dotted.key": value}, and {"-": [...]} for keys left out.
std::string changed(json::object config, const json::object& change) {
  std::string_view leaf;
  for (const auto& [path, value] : change) {
    if (path != "-") {
      auto& scope = scope_of(config, path, leaf);
      scope[leaf] = value;
      continue;
    }
    for (const auto& name : value.as_array()) {
      auto& scope = scope_of(config, name.as_string(), leaf);
      scope.erase(leaf);
    }
  }
  return json::serialize(config);
}

json::value cache_of(const Part& part) {
  const oracle::Kept kept = oracle::kept_by(part);
  json::object by_window;
  for (const auto& [window, elements] : kept.by_window)
    by_window[std::to_string(window)] = elements;
  return {{"per_token", kept.per_token},
          {"per_sequence", kept.per_sequence},
          {"by_window", std::move(by_window)}};
}

/// Difference between our description of `config` and the reference's outcome; empty: none.
std::string difference(const std::string& config, const std::string& name,
                       const json::object& theirs) {
  std::string text;
  try {
    const Part part = as_reference(describe(parse_config(config, name)));
    const std::pair<std::string_view, Size> ours[] = {
        {"parameters", checksum(oracle::parameter_lines(part))},
        {"buffers", checksum(oracle::buffer_lines(part))},
        {"modules", checksum(oracle::module_lines(part))},
        {"ties", checksum(oracle::tie_lines(part))},
        {"no_split", checksum(oracle::no_split_lines(part))},
        {"total", oracle::total_of(part)},
    };
    for (const auto& [key, value] : ours)
      if (value != theirs.at(key).to_number<Size>()) text += fmt::format(" {}", key);
    const auto& active = theirs.at("active");
    if (!active.is_null() && oracle::active_of(part) != active.to_number<Size>())
      text += fmt::format(" active: ours {}, reference {};", oracle::active_of(part),
                          json::serialize(active));
    const auto& cache = theirs.at("cache");
    if (!cache.is_null() && cache_of(part) != cache)
      text += fmt::format(" cache: ours {}, reference {}", json::serialize(cache_of(part)),
                          json::serialize(cache));
  } catch (const std::exception& e) {
    text = fmt::format(" refused: {}", e.what());
  }
  return text;
}

struct Tally {
  std::size_t architectures = 0, variations = 0, mismatches = 0;
};

void compare_variants(const std::string& name, const std::string& text, Tally& tally) {
  const json::value file = json::parse(text);
  const auto& base = file.at("base").as_object();
  const auto compare_one = [&](const json::object& change, const json::object& outcome, int i) {
    json::object theirs = file.at("outcome").as_object();
    for (const auto& [key, value] : outcome) theirs[key] = value;
    ++tally.variations;
    const std::string text = difference(changed(base, change), name, theirs);
    if (text.empty()) return;
    if (++tally.mismatches <= 200)
      ADD_FAILURE() << name << " " << i << " " << json::serialize(change).substr(0, 400) << ":"
                    << text;
  };
  compare_one({}, {}, -1);
  int i = 0;
  for (const auto& v : file.at("variants").as_array())
    compare_one(v.at(0).as_object(), v.at(1).as_object(), i++);
  ++tally.architectures;
}

TEST(Variants, AreIdenticalToTheReference) {
  const char* folder = std::getenv("HEADROOM_ORACLE_VARIANTS");  // another folder of vary.py
  const char* only = std::getenv("HEADROOM_ORACLE");             // a part of the names to look at
  Tally tally;
  for (const auto& [name, text] : oracle::read_files(folder ? folder : "variants"))
    if (!only || name.starts_with(only)) compare_variants(name, text, tally);
  fmt::print("variants: {} variations of {} architectures, {} mismatches\n", tally.variations,
             tally.architectures, tally.mismatches);
  EXPECT_EQ(tally.mismatches, 0u);
}

}  // namespace
}  // namespace headroom::model
