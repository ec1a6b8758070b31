// What MODEL may be.
#include "sweep/sources/source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "sweep/hub/hub.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

const Hub offline({.token = {}, .offline = true});

std::string complaint(std::string_view text) {
  try {
    resolve_model(text, offline);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}

class Files : public testing::Test {
 protected:
  Files() {
    fs::create_directories(folder / "tiny");
    for (const auto& file : embedded_models())
      if (file.name == "TinyLlama__TinyLlama-1.1B-Chat-v1.0.json")
        std::ofstream(folder / "tiny" / "config.json") << file.bytes;
  }
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();
};

TEST(Source, FindsCatalogueNamesInAnyCase) {
  for (const auto* name : {"TinyLlama/TinyLlama-1.1B-Chat-v1.0", "tinyllama-1.1b-chat-v1.0",
                           "TINYLLAMA/tinyllama-1.1B-chat-V1.0"}) {
    const auto model = resolve_model(name);
    EXPECT_EQ(model.name, "TinyLlama/TinyLlama-1.1B-Chat-v1.0");
    EXPECT_EQ(model.profile.parameters, 1'100'048'384);  // published: 1.1B; oracle counts.json
    EXPECT_EQ(model.source.find("catalogue, published: github"), 0U) << model.source;
  }
}

TEST(Source, ShortNamesAreModels) {
  EXPECT_EQ(resolve_model("llama2-7b").name, "meta-llama/Llama-2-7b-hf");
  EXPECT_EQ(resolve_model("llama3-8b").name, "meta-llama/Meta-Llama-3-8B");
  const auto known = catalogue_models();
  for (const auto& row : short_names())
    EXPECT_NE(std::find(known.begin(), known.end(), row.model), known.end()) << row.name;
}

TEST(Source, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_NE(complaint("TinyLama/TinyLlama-1.1B-Chat").find("TinyLlama/TinyLlama-1.1B-Chat-v1.0"),
            std::string::npos);
  EXPECT_THROW(resolve_model("no such", offline), UnknownName);
  EXPECT_THROW(resolve_model("no/such", offline), HubError);  // it may be there
  EXPECT_THROW(resolve_model("", offline), UnknownName);
}

TEST_F(Files, AreConfigsAndFolders) {
  const auto count = resolve_model("TinyLlama-1.1B-Chat-v1.0").profile.parameters;
  for (const auto& path :
       {folder / "tiny", folder / "tiny" / "", folder / "tiny" / "config.json"}) {
    const auto model = resolve_model(path.string());
    EXPECT_EQ(model.name, "tiny") << path;
    EXPECT_EQ(model.profile.parameters, count);
  }
  EXPECT_NE(complaint((folder / "none.json").string()).find("no such file"), std::string::npos);
  EXPECT_THROW(resolve_model(folder.string(), offline),
               UnknownName);  // a folder without a config.json
}

TEST_F(Files, BrokenOnesAreNamed) {
  const auto broken = folder / "broken.json";
  std::ofstream(broken) << "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden";
  EXPECT_NE(complaint(broken.string()).find("broken.json"), std::string::npos);
  std::ofstream(folder / "empty.json").flush();
  EXPECT_NE(complaint((folder / "empty.json").string()).find("empty"), std::string::npos);
}

TEST(Override, ChangesTheModelAndItsName) {
  const auto whole = resolve_model("TinyLlama-1.1B-Chat-v1.0");
  const auto half = resolve_model("TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=11");
  EXPECT_EQ(half.name, "TinyLlama/TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=11");
  EXPECT_EQ(half.shape.layers, 11);
  // 22 equal layers: half of them are what the two differ by.
  const Size outside = 2 * 32000 * 2048 + 2048;
  EXPECT_EQ(2 * (half.profile.parameters - outside), whole.profile.parameters - outside);
}

TEST(Override, WithoutEffectIsAnError) {
  EXPECT_NE(complaint("TinyLlama-1.1B-Chat-v1.0?num_hiden_layers=11").find("num_hidden_layers"),
            std::string::npos);
  EXPECT_NE(complaint("TinyLlama-1.1B-Chat-v1.0?text_config.vocab_size=3").find("no section"),
            std::string::npos);
  EXPECT_NE(complaint("TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=x").find("num_hidden_layers"),
            std::string::npos);
  for (const auto* bad : {"gpt2?", "gpt2?x", "gpt2?=3", "gpt2?x=", "gpt2?a=1&&b=2"})
    EXPECT_THROW(resolve_model(bad), std::invalid_argument) << bad;
}

}  // namespace
}  // namespace headroom::sweep
