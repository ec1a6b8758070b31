// Models of a hub by name, as every command resolves them.
#include "sweep/hub/hub.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "hardware/catalogue.hpp"
#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "sweep/run/fingerprint.hpp"
#include "sweep/spec/job.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/loopback_hub.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;
using test::HubAsked;
using test::HubReply;
using test::LoopbackHub;

std::string embedded(std::string_view name) {
  for (const auto& file : embedded_models())
    if (file.name == name) return std::string(file.bytes);
  return "";
}

class HubModels : public testing::Test {
 protected:
  HubModels() : tiny(embedded("TinyLlama__TinyLlama-1.1B-Chat-v1.0.json")) {
    server.repositories["someone/tiny"] = {.files = {{"config.json", tiny}}};
    settings.endpoint = server.endpoint();
    settings.cache = folder / "ours";
    settings.hf_cache = folder / "theirs";
    settings.http.first_wait = std::chrono::milliseconds(1);
  }
  model::Model resolve(const std::string& text) const { return resolve_model(text, Hub(settings)); }
  std::string complaint(const std::string& text) const {
    try {
      resolve(text);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "none";
  }
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();
  std::string tiny;
  LoopbackHub server;
  HubSettings settings;
};

#define EXPECT_SAYS(text, fragment) \
  EXPECT_NE((text).find(fragment), std::string::npos) << (text) << "\nlacks: " << (fragment)

TEST(HubAddress, IsParsed) {
  const auto is = [](std::string_view name, std::string_view repository, std::string_view revision,
                     std::string_view folder = "", std::string_view file = "") {
    const auto address = parse_hub_address(name);
    ASSERT_TRUE(address) << name;
    EXPECT_EQ(address->repository, repository) << name;
    EXPECT_EQ(address->revision, revision) << name;
    EXPECT_EQ(address->folder, folder) << name;
    EXPECT_EQ(address->file, file) << name;
  };
  is("gpt2", "gpt2", "");
  is("Qwen/Qwen3-0.6B", "Qwen/Qwen3-0.6B", "");
  is("Qwen/Qwen3-0.6B@v1.0", "Qwen/Qwen3-0.6B", "v1.0");
  is("Qwen/Qwen3-0.6B@refs/pr/3", "Qwen/Qwen3-0.6B", "refs/pr/3");
  is("org/name/x.gguf", "org/name", "", "", "x.gguf");
  is("org/name/a/b/x.gguf@main", "org/name", "main", "a/b", "x.gguf");
  is("org/name@main/a/b/x.gguf", "org/name", "main", "a/b", "x.gguf");
  is("org/name@main/x.gguf", "org/name", "main", "", "x.gguf");
  is("org/name@refs/pr/3/x.gguf", "org/name", "refs/pr/3", "", "x.gguf");
  is("https://huggingface.co/org/name", "org/name", "");
  is("https://huggingface.co/org/name/resolve/main/a/x.gguf", "org/name", "main", "a", "x.gguf");
  is("https://huggingface.co/org/name/blob/main/x.gguf", "org/name", "main", "", "x.gguf");
  is("https://huggingface.co/org/name/tree/v1.0", "org/name", "v1.0");
  is("hf.co/org/name", "org/name", "");
  for (const auto* not_one : {"",
                              "/abs/path",
                              "./org/name",
                              "../org/name",
                              "~/name",
                              "a/b/c",
                              "org/",
                              "/name",
                              "org//name",
                              "org/name@",
                              "org/name@../x",
                              "org/name@a b",
                              "or g/name",
                              "org/name\n",
                              "org/na:m e",
                              "or:g/name",
                              "https://example.com/org/name",
                              "https://huggingface.co/org/name/resolve/main/../x.gguf",
                              "org/config.json",
                              "org/model.safetensors",
                              "config.json",
                              "model.gguf",
                              "-x/name",
                              ".x/name",
                              "org/na..me",
                              "org/na--me",
                              "org/name/../x.gguf",
                              "a\\b",
                              "org/n\xc3\xa4me"})
    EXPECT_FALSE(parse_hub_address(not_one)) << not_one;
}

TEST_F(HubModels, AreTheSameAsFromTheirConfig) {
  const auto ours = resolve("TinyLlama-1.1B-Chat-v1.0");
  EXPECT_TRUE(server.asked().empty()) << "the catalogue knows it";
  const auto model = resolve("someone/tiny");
  EXPECT_EQ(model.name, "someone/tiny");
  EXPECT_EQ(model.profile.parameters, 1'100'048'384);
  EXPECT_EQ(model.profile.parameters, ours.profile.parameters);
  EXPECT_SAYS(model.source, "hub 127.0.0.1:");
  EXPECT_SAYS(model.source, "someone/tiny, revision main, commit " + std::string(40, '1'));
  EXPECT_EQ(server.asked().size(), 3U)
      << "config.json, and whether a recipe or modules.json lies beside it";
  EXPECT_EQ(resolve("someone/tiny@main").name, "someone/tiny@main");
  EXPECT_EQ(resolve("someone/tiny?num_hidden_layers=11").shape.layers, 11);
}

TEST_F(HubModels, ReadsRecipesNextToConfigs) {
  const std::string recipe = R"({"quantization": {"quant_algo": "FP8", "exclude_modules": []}})";
  server.repositories["someone/fp8"] = {
      .files = {{"config.json", tiny}, {"hf_quant_config.json", recipe}}};
  EXPECT_EQ(resolve("someone/fp8").checkpoint_scheme, "fp8-static");
  EXPECT_EQ(resolve("someone/tiny").checkpoint_scheme, "bf16");
  settings.offline_by = "--offline";
  EXPECT_EQ(resolve("someone/fp8").checkpoint_scheme, "fp8-static") << "cached";
  EXPECT_EQ(resolve("someone/tiny").checkpoint_scheme, "bf16") << "and that there is none";
  const auto snapshot =
      settings.hf_cache / "models--org--local" / "snapshots" / std::string(40, 'b');
  fs::create_directories(snapshot);
  fs::create_directories(settings.hf_cache / "models--org--local" / "refs");
  std::ofstream(settings.hf_cache / "models--org--local" / "refs" / "main") << std::string(40, 'b');
  std::ofstream(snapshot / "config.json") << tiny;
  EXPECT_EQ(resolve("org/local").checkpoint_scheme, "bf16");
  std::ofstream(snapshot / "hf_quant_config.json") << recipe;
  EXPECT_EQ(resolve("org/local").checkpoint_scheme, "fp8-static");
}

TEST_F(HubModels, LocalNamesAskNobody) {
  settings.endpoint = "http://127.0.0.1:1";  // nothing listens there
  for (const auto* name : {"gpt2", "microsoft/phi-2", "llama3-8b"}) EXPECT_NO_THROW(resolve(name));
  EXPECT_THROW(resolve("gpt3"), UnknownName);
  EXPECT_SAYS(complaint("gpt3"), "nearest: ");
  EXPECT_SAYS(complaint("./no/such"), "./no/such: no such file");
  fs::create_directories(folder / "model");
  std::ofstream(folder / "model" / "config.json") << tiny;
  EXPECT_NO_THROW(resolve((folder / "model").string()));
}

/// As llama.cpp's -hf and ollama name them.
TEST_F(HubModels, AQuantisationNamesAFileOfTheRepository) {
  const auto address = parse_hub_address("org/quants:UD-Q4_K_XL");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->repository, "org/quants");
  EXPECT_EQ(address->quantisation, "UD-Q4_K_XL");
  server.repositories["org/quants"] = {.files = {{"tiny-Q4_K_M.gguf", "no header"},
                                                 {"tiny-UD-Q4_K_XL.gguf", "no header"},
                                                 {"mmproj-Q8_0.gguf", "no header"}}};
  EXPECT_SAYS(complaint("org/quants:ud-q4_k_xl"), "tiny-UD-Q4_K_XL.gguf");
  EXPECT_SAYS(complaint("org/quants:Q8_0"), "no .gguf file with a name that ends in 'Q8_0'");
  EXPECT_SAYS(complaint("org/quants:Q8_0"), "tiny-Q4_K_M.gguf");
}

TEST_F(HubModels, TypingErrorsAreAnsweredWithTheNearest) {
  EXPECT_THROW(resolve("microsft/phi-2"), UnknownName);
  EXPECT_SAYS(complaint("microsft/phi-2"), "nearest: microsoft/phi-2");
  EXPECT_SAYS(complaint("microsft/phi-2"), "has no model microsft/phi-2");
  settings.offline_by = "--offline";
  EXPECT_THROW(resolve("microsft/phi-2"), HubError);
  EXPECT_SAYS(complaint("microsft/phi-2"), "nearest: microsoft/phi-2");
  EXPECT_SAYS(complaint("microsft/phi-2"), "would fetch");
  settings.offline_by = "";
  settings.endpoint = "http://127.0.0.1:1";
  EXPECT_THROW(resolve("microsft/phi-2"), HubError);
  EXPECT_SAYS(complaint("microsft/phi-2"), "nearest: microsoft/phi-2");
  EXPECT_SAYS(complaint("microsft/phi-2"), "onnect");
}

TEST_F(HubModels, NamesWithoutAnOrganisationNeedARevisionOrACache) {
  server.repositories["tiny"] = {.files = {{"config.json", tiny}}};
  EXPECT_THROW(resolve("tiny"), UnknownName);
  EXPECT_TRUE(server.asked().empty());
  EXPECT_EQ(resolve("tiny@main").profile.parameters, 1'100'048'384);
  const auto models = settings.hf_cache / "models--tiny";
  fs::create_directories(models / "refs");
  fs::create_directories(models / "snapshots" / std::string(40, 'a'));
  std::ofstream(models / "refs" / "main") << std::string(40, 'a') << '\n';
  std::ofstream(models / "snapshots" / std::string(40, 'a') / "config.json") << tiny;
  EXPECT_SAYS(resolve("tiny").source, "local hub cache, tiny");
}

TEST_F(HubModels, RepositoriesWithoutAModelSayWhatTheyHave) {
  server.repositories["someone/data"] = {.files = {{"README.md", "x"}, {"train.csv", "x"}}};
  const auto text = complaint("someone/data");
  EXPECT_SAYS(text, "someone/data");
  EXPECT_SAYS(text, "README.md, train.csv");
}

TEST_F(HubModels, BadConfigsNameTheRepository) {
  server.repositories["someone/tiny"].files["config.json"] = tiny.substr(0, tiny.size() / 2);
  EXPECT_SAYS(complaint("someone/tiny"), "someone/tiny/config.json");
  server.repositories["someone/tiny"].files["config.json"] = "<html>Sign in to the network</html>";
  EXPECT_SAYS(complaint("someone/tiny@main"), "someone/tiny@main/config.json");
  server.repositories["someone/tiny"].files["config.json"] = std::string(33 << 20, ' ');
  EXPECT_SAYS(complaint("someone/tiny"), "at most 33554432");
}

TEST_F(HubModels, SeveralConcurrently) {
  std::atomic<int> inside = 0, most = 0;
  server.trick = [&](const HubAsked&, HubReply& reply, int) {
    const int now = ++inside;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    --inside;
    reply.delay = std::chrono::milliseconds(0);
  };
  std::vector<std::string> names = {"gpt2", "someone/none"};
  for (int i = 0; i < 12; ++i) {
    names.push_back("someone/tiny" + std::to_string(i));
    server.repositories[names.back()] = {.files = {{"config.json", tiny}}};
  }
  const auto all = resolve_models(names, Hub(settings));
  ASSERT_EQ(all.size(), names.size());
  EXPECT_EQ(all[0].model->name, "openai-community/gpt2");
  EXPECT_TRUE(all[1].failure) << "one that fails leaves the others alone";
  for (std::size_t i = 2; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].model) << i;
    EXPECT_EQ(all[i].model->name, names[i]);
  }
  EXPECT_GT(most, 2) << "requests wait beside each other";
  EXPECT_LE(most, 8);
}

TEST_F(HubModels, SweepsAreBoundToTheContent) {
  const auto of = [&] {
    const Spec spec =
        parse_spec("[[grid]]\nmodels = ['someone/tiny']\nmachines = ['rtx-4090']\n", "s.toml");
    return make_job(spec, shipped_catalogue(), Hub(settings)).info(spec).fingerprint;
  };
  const std::string fetched = of();
  EXPECT_EQ(of(), fetched) << "from the cache, unchanged";
  settings.offline_by = "--offline";
  EXPECT_EQ(of(), fetched);
  settings.offline_by = "";
  server.repositories["someone/tiny"].commit = std::string(40, '2');
  EXPECT_EQ(of(), fetched) << "another commit, the same model";
  auto& config = server.repositories["someone/tiny"].files["config.json"];
  config.replace(config.find("\"num_hidden_layers\": 22"), 23, "\"num_hidden_layers\": 21");
  EXPECT_NE(of(), fetched);
  server.repositories.clear();
  settings.cache = "";
  EXPECT_THROW(of(), SpecError) << "before the first point";
}

}  // namespace
}  // namespace headroom::sweep
