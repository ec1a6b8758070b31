// Headers of GGUF files that llama.cpp's own converter wrote, held against the configs that they
// were converted from. Made by tests/oracle/make_checkpoints.py, make_small_gguf.py and
// make_built_gguf.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "archive.hpp"
#include "gguf_model.hpp"
#include "model/checkpoint/gguf/keys.hpp"

namespace headroom::oracle {
namespace {

namespace json = boost::json;

struct File {
  std::string name;
  model::Config config;
  model::GgufHeader header;
};

std::vector<File> files() {
  std::vector<File> all;
  const Files archive = read_files("gguf");
  for (const auto& [file, text] : archive) {
    if (!file.ends_with(".json")) continue;
    const std::string name = file.substr(0, file.size() - 5);
    const json::object row = json::parse(text).as_object();
    const std::string& bytes = file_of(archive, name + ".gguf");
    const auto header = static_cast<Size>(bytes.size());
    const Size size = (header + 31) / 32 * 32 + row.at("data").as_int64();
    auto parsed = model::parse_gguf(bytes, size, name);
    EXPECT_TRUE(parsed) << name;
    if (parsed) all.push_back({name, {row.at("config").as_object(), name}, std::move(*parsed)});
  }
  return all;
}

TEST(GgufOracle, EveryTensorOfAFileIsOneOfTheDescription) {
  Size described = 0, tensors = 0;
  for (const File& file : files()) {
    SCOPED_TRACE(file.name);
    model::Model model;
    try {
      model = model_of_header(file.name, file.header);
    } catch (const model::NotDescribed&) {
      continue;
    }
    const auto& found = model.stored->comparison;
    EXPECT_TRUE(found.differences.empty())
        << found.differences.size() << ", first " << name_of(found.differences.front().kind) << ' '
        << found.differences.front().name << ' ' << found.differences.front().text;
    Bytes bytes;
    for (const Bytes each : model::quantised_bytes(model, model::scheme(model.checkpoint_scheme)))
      bytes += each;
    EXPECT_EQ(bytes, file.header.list.total) << "weights held are the tensors of the file";
    ++described;
    tensors += found.described;
  }
  EXPECT_GE(described, 60);
  std::printf("%ld files, %ld tensors\n", described, tensors);
}

/// Files of BERT lack the pooler, those of language models their towers.
bool has_other_modules(const model::GgufHeader& header) {
  const std::string name = header.text("general.architecture");
  for (const auto& row : model::gguf_architectures())
    if (row.name == name) return !row.without.empty() || !row.with.empty();
  return false;
}

bool has_window(const model::Model& m) {
  return std::ranges::any_of(m.part.caches, [](const auto& cache) { return cache.window > 0; });
}

/// If the file's class is the config's, parameters and cache must be equal. llama.cpp drops some
/// windows (Starcoder2's) and gives others to layers that have none (Laguna's without layer_types).
/// They are compared if both have some.
TEST(GgufOracle, TheConfigOfAFileIsTheOneItWasMadeFrom) {
  Size compared = 0;
  for (const File& file : files()) {
    SCOPED_TRACE(file.name);
    model::Model own, from;
    try {
      own = model_of_header(file.name, file.header);
      from = model::make_model(file.name, file.config, "");
    } catch (const model::ConfigError&) {
      continue;
    }
    if (own.architecture != from.architecture || own.encoder_decoder) continue;
    if (has_other_modules(file.header)) continue;
    ++compared;
    std::multiset<Size> mine, theirs;
    for (const auto& t : own.part.tensors)
      if (t.is_parameter()) mine.insert(t.elements());
    for (const auto& t : from.part.tensors)
      if (t.is_parameter()) theirs.insert(t.elements());
    EXPECT_EQ(mine, theirs);
    EXPECT_EQ(own.profile.parameters, from.profile.parameters);
    EXPECT_EQ(own.profile.parameters_active, from.profile.parameters_active);
    const bool says_window = file.header.values.contains(file.header.text("general.architecture") +
                                                         ".attention.sliding_window");
    ASSERT_EQ(own.part.caches.size(), from.part.caches.size());
    for (std::size_t i = 0; i < own.part.caches.size(); ++i) {
      EXPECT_EQ(own.part.caches[i].per_token, from.part.caches[i].per_token) << i;
      EXPECT_EQ(own.part.caches[i].per_sequence, from.part.caches[i].per_sequence) << i;
      if (says_window && has_window(from)) {
        EXPECT_EQ(own.part.caches[i].window, from.part.caches[i].window) << i;
      }
    }
    EXPECT_EQ(own.shape.layers, from.shape.layers);
    EXPECT_EQ(own.shape.hidden_size, from.shape.hidden_size);
    EXPECT_EQ(own.shape.vocabulary, from.shape.vocabulary);
  }
  EXPECT_GE(compared, 40);
}

}  // namespace
}  // namespace headroom::oracle
