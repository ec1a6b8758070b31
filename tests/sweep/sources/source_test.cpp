// Accepted and refused values of MODEL.
#include "sweep/sources/source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hardware/catalogue.hpp"
#include "hardware/embedded.hpp"
#include "hardware/machine.hpp"
#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "sweep/hub/hub.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

const Hub offline({.token = {}, .offline = true});

std::string source_complaint(std::string_view text) {
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
    EXPECT_EQ(model.profile.parameters, 1'100'048'384);  // published: 1.1B, oracle: counts.json
    EXPECT_EQ(model.source.find("catalogue, published: github"), 0U) << model.source;
  }
}

TEST(Source, ModelsOfAClassAreThoseOfAllThatHaveIt) {
  const auto of = [](std::string_view owner) {
    return [owner](std::string_view name) { return name.starts_with(owner); };
  };
  std::vector<std::string> expected, found;
  for (const auto& name : catalogue_models())
    if (name.starts_with("microsoft/") && resolve_model(name).architecture == "PhiForCausalLM")
      expected.push_back(name);
  for (const auto& model : catalogue_models_of("PhiForCausalLM", of("microsoft/"))) {
    found.push_back(model.name);
    EXPECT_EQ(model.profile.parameters, resolve_model(model.name).profile.parameters);
  }
  EXPECT_FALSE(found.empty());
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(catalogue_models_of("PhiForCausalLM", of("Qwen/")).empty());
}

TEST(Source, ShortNamesAreModels) {
  EXPECT_EQ(resolve_model("llama2-7b").name, "meta-llama/Llama-2-7b-hf");
  EXPECT_EQ(resolve_model("llama3-8b").name, "meta-llama/Meta-Llama-3-8B");
  const auto known = catalogue_models();
  for (const auto& row : short_names())
    EXPECT_NE(std::find(known.begin(), known.end(), row.model), known.end()) << row.name;
}

TEST(Source, UnknownNamesAreAnsweredWithTheNearest) {
  EXPECT_NE(
      source_complaint("TinyLama/TinyLlama-1.1B-Chat").find("TinyLlama/TinyLlama-1.1B-Chat-v1.0"),
      std::string::npos);
  EXPECT_THROW(resolve_model("no such", offline), UnknownName);
  EXPECT_THROW(resolve_model("no/such", offline), HubError);  // it may exist online
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
  EXPECT_NE(source_complaint((folder / "none.json").string()).find("no such file"),
            std::string::npos);
  EXPECT_THROW(resolve_model(folder.string(), offline),
               UnknownName);  // a folder without a config.json
}

TEST_F(Files, BrokenOnesAreNamed) {
  const auto broken = folder / "broken.json";
  std::ofstream(broken) << "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden";
  EXPECT_NE(source_complaint(broken.string()).find("broken.json"), std::string::npos);
  std::ofstream(folder / "empty.json").flush();
  EXPECT_NE(source_complaint((folder / "empty.json").string()).find("empty"), std::string::npos);
}

/// ModelOpt's recipe is a file next to the config. Source: vLLM quantization/modelopt.py,
/// get_config_filenames.
TEST_F(Files, RecipeNextToAConfigIsItsQuantisation) {
  std::ofstream(folder / "tiny" / "hf_quant_config.json") << R"({"producer": {"name": "modelopt"},
      "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16,
                       "exclude_modules": ["lm_head"]}})";
  for (const auto& path : {folder / "tiny", folder / "tiny" / "config.json"}) {
    const auto model = resolve_model(path.string());
    EXPECT_EQ(model.checkpoint_scheme, "nvfp4") << path;
    EXPECT_NE(model.source.find("hf_quant_config.json"), std::string::npos) << model.source;
    // 22 layers have 44'040'192 elements in 154 linear layers. Every 16 elements take 9 bytes, and
    // each linear layer has two fp32 scales.
    const Size linears = 22 * Size{44'040'192};
    EXPECT_EQ(model::checkpoint_bytes(model).count(),
              2 * (1'100'048'384 - linears) + linears / 16 * 9 + 154 * 8);
  }
  std::ofstream(folder / "tiny" / "hf_quant_config.json")
      << R"({"quantization": {"quant_algo": null, "kv_cache_quant_algo": "FP8"}})";
  EXPECT_EQ(resolve_model((folder / "tiny").string()).checkpoint_scheme, "bf16");
  std::ofstream(folder / "tiny" / "hf_quant_config.json") << R"({"quant": {}})";
  EXPECT_NE(source_complaint((folder / "tiny").string()).find("hf_quant_config.json"),
            std::string::npos);
}

/// Source: metadata.total_size of their model.safetensors.index.json.
TEST(Catalogue, CheckpointBytesAreThePublishedOnes) {
  const auto bytes = [](std::string_view name) {
    return model::checkpoint_bytes(resolve_model(name)).count();
  };
  EXPECT_EQ(bytes("openai/gpt-oss-20b"), 13'761'264'768);
  EXPECT_EQ(bytes("meta-llama/Meta-Llama-3-8B"), 16'060'522'496);
  // DeepSeek-R1: 163 files of 688'586'727'753 bytes (git-LFS pointers, itounagi0116/DeepSeek-R1
  // f06d0a7). They include headers of about 92'000 tensors and the module of layer 61.
  EXPECT_LT(bytes("deepseek-ai/DeepSeek-R1"), 688'586'727'753);
  EXPECT_GT(bytes("deepseek-ai/DeepSeek-R1"), 688'586'727'753 - 92'000 * 200);
}

/// Recipes in hf_quant_config.json of nvidia/DeepSeek-V3.1-NVFP4 and of the Nemotron. DeepSeek's
/// files have about 415 GB. Nemotron has experts, shared experts and head in W4A16_NVFP4, Mamba's
/// two projections in FP8, and the rest in 16 bit.
TEST(Catalogue, ComparesRecipesNextToConfigs) {
  const auto deepseek = resolve_model("nvidia/DeepSeek-V3.1-NVFP4");
  EXPECT_EQ(deepseek.checkpoint_scheme, "nvfp4");
  EXPECT_NEAR(static_cast<double>(model::checkpoint_bytes(deepseek).count()), 415e9, 0.01 * 415e9);
  const auto nemotron = resolve_model("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4");
  EXPECT_EQ(nemotron.checkpoint_scheme, "nvfp4-weights");
  constexpr Size hidden = 2688, moe = 23, mamba = 23;
  constexpr Size fp4 = moe * (128 * 2 * 1856 + 2 * 3712) * hidden + 131072 * hidden;
  constexpr Size fp4_tensors = moe * (128 * 2 + 2) + 1;
  constexpr Size fp8 = mamba * (10304 + 4096) * hidden;
  // The module that predicts a further token stays in bf16. The hub counts 32913263168 such
  // elements in the unquantised model's files, 31577937344 without the module, and 24 * 128 in
  // fp32.
  constexpr Size predictor = Size{32913263168} - 31577937344;
  EXPECT_EQ(model::checkpoint_bytes(nemotron).count() -
                2 * (nemotron.profile.parameters - fp4 - fp8 + predictor) - 4 * 128 * (moe + 1),
            fp4 / 16 * 9 + 4 * fp4_tensors + fp8 + 8 * 2 * mamba);
}

/// The files of ggml-org have experts in MXFP4 and the rest in Q8_0.
TEST(Catalogue, PrecisionByDefaultIsOneThatTheRuntimeHasAFileOf) {
  const auto oss = resolve_model("openai/gpt-oss-20b");
  const Machine card = parse_machine("rtx-4090", shipped_catalogue());
  const auto by_default = [&](const model::Model& m, const char* engine) {
    return model::loaded_scheme(m, nullptr, model::engine(engine), card).name;
  };
  EXPECT_EQ(by_default(oss, "llama.cpp"), "mxfp4-moe");
  EXPECT_EQ(by_default(oss, "vllm"), "mxfp4");
  EXPECT_EQ(by_default(resolve_model("llama3-8b"), "llama.cpp"), "bf16");
}

TEST(Override, ChangesTheModelAndItsName) {
  const auto whole = resolve_model("TinyLlama-1.1B-Chat-v1.0");
  const auto half = resolve_model("TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=11");
  EXPECT_EQ(half.name, "TinyLlama/TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=11");
  EXPECT_EQ(half.shape.layers, 11);
  // The override keeps half of 22 equal layers.
  const Size outside = 2 * 32000 * 2048 + 2048;
  EXPECT_EQ(2 * (half.profile.parameters - outside), whole.profile.parameters - outside);
}

TEST(Override, WithoutEffectIsAnError) {
  EXPECT_NE(
      source_complaint("TinyLlama-1.1B-Chat-v1.0?num_hiden_layers=11").find("num_hidden_layers"),
      std::string::npos);
  EXPECT_NE(
      source_complaint("TinyLlama-1.1B-Chat-v1.0?text_config.vocab_size=3").find("no section"),
      std::string::npos);
  EXPECT_NE(
      source_complaint("TinyLlama-1.1B-Chat-v1.0?num_hidden_layers=x").find("num_hidden_layers"),
      std::string::npos);
  for (const auto* bad : {"gpt2?", "gpt2?x", "gpt2?=3", "gpt2?x=", "gpt2?a=1&&b=2"})
    EXPECT_THROW(resolve_model(bad), std::invalid_argument) << bad;
}

TEST(Override, NamesTheKeyThatHasTheEffect) {
  EXPECT_NE(source_complaint("google/gemma-3-12b-it?num_hidden_layers=12")
                .find("keys with an effect: text_config.num_hidden_layers"),
            std::string::npos);
  EXPECT_EQ(resolve_model("google/gemma-3-12b-it?text_config.num_hidden_layers=12").shape.layers,
            12);
  for (const auto* model : {"gpt2", "bert-base-uncased", "bloom-560m", "mamba-130m-hf", "t5-small"})
    EXPECT_NE(source_complaint(std::string(model) + "?num_key_value_heads=1").find("no effect"),
              std::string::npos)
        << model;
}

/// The count matches transformers 5.23. Commands that would run attention refuse such heads.
TEST(Heads, ThatDoNotDivideAreCountedOnly) {
  const std::string name =
      "huggyllama/llama-30b?num_attention_heads=52&hidden_size=6656&num_key_value_heads=32"
      "&num_hidden_layers=2&intermediate_size=11008";
  std::string seven = name;
  seven.replace(seven.find("30b"), 3, "7b");
  const auto counted = resolve_models(std::vector{seven}, offline, Need::counts);
  ASSERT_TRUE(counted.at(0).model);
  EXPECT_EQ(counted.at(0).model->profile.parameters, 1'151'894'016);
  EXPECT_NE(source_complaint(seven).find("no multiple of num_key_value_heads (32)"),
            std::string::npos);
}

TEST(Source, EveryModelOfTheCatalogueRunsButHeadsThatAreOnlyCounted) {
  const auto models = catalogue_models();
  for (const auto& each : models) EXPECT_NO_THROW(resolve_model(each, offline)) << each;
  for (const auto& each : catalogue_models(Need::counts))
    if (!std::ranges::binary_search(models, each)) {
      EXPECT_THROW(resolve_model(each, offline), model::NotDescribed) << each;
    }
}

TEST(Source, NearestNamesAreOfTheSameSize) {
  const std::string text = source_complaint("Qwen2.5-7B-Turbo");
  EXPECT_NE(text.find("nearest: Qwen2.5-7B, "), std::string::npos) << text;
  EXPECT_EQ(text.find("72B"), std::string::npos) << text;
  EXPECT_EQ(resolve_model("meta-llama/Llama-3.1-70B").name, "meta-llama/Meta-Llama-3.1-70B");
}

TEST_F(Files, ThatAreNoneAreSaid) {
  EXPECT_NE(source_complaint("no/such/model.gguf").find("is no file"), std::string::npos);
  EXPECT_NE(source_complaint("models/x.gguf").find("no such file"), std::string::npos);
  fs::create_directories(folder / "empty");
  EXPECT_NE(source_complaint((folder / "empty").string()).find("a folder without a model"),
            std::string::npos);
  std::ofstream(folder / "long.json") << std::string((std::size_t{33} << 20), ' ');
  EXPECT_NE(source_complaint((folder / "long.json").string()).find("34603008 bytes"),
            std::string::npos);
}

/// A small version of Mistral-Small-3.1. The index next to the config shows whether the head is
/// tied.
TEST(Source, AnOpenTieIsSettledByTheCheckpoint) {
  const headroom::test::Folder folder;
  std::ofstream(folder / "config.json") << R"({"model_type": "mistral3",
      "architectures": ["Mistral3ForConditionalGeneration"],
      "text_config": {"head_dim": 16, "hidden_size": 64, "intermediate_size": 128,
        "model_type": "mistral", "num_attention_heads": 4, "num_hidden_layers": 1,
        "num_key_value_heads": 2, "vocab_size": 1000},
      "vision_config": {"head_dim": 16, "hidden_size": 64, "image_size": 28,
        "intermediate_size": 64, "model_type": "pixtral", "num_attention_heads": 4,
        "num_hidden_layers": 1, "patch_size": 14}})";
  const auto alone = resolve_model(folder.path().string(), offline);
  EXPECT_FALSE(alone.assumed.empty());
  const auto with_index = [&](const std::string& name) {
    std::ofstream(folder / "model.safetensors.index.json")
        << R"({"metadata": {"total_size": 8}, "weight_map": {")" << name
        << R"(": "a.safetensors"}})";
    const auto model = resolve_model(folder.path().string(), offline);
    EXPECT_TRUE(model.assumed.empty());
    return model.profile.parameters;
  };
  EXPECT_EQ(with_index("language_model.lm_head.weight"), alone.profile.parameters);
  EXPECT_EQ(with_index("language_model.model.norm.weight"), alone.profile.parameters - 64'000);
}

TEST(Source, CodeOfARepositorysOwnIsSaid) {
  const headroom::test::Folder folder;
  std::ofstream(folder / "config.json")
      << R"({"architectures": ["SomethingForCausalLM"], "hidden_size": 64,
             "auto_map": {"AutoModelForCausalLM": "modeling_something.SomethingForCausalLM"}})";
  const std::string text = source_complaint((folder / "config.json").string());
  EXPECT_NE(text.find("code of its own repository"), std::string::npos) << text;
  EXPECT_NE(text.find("headers of its tensors"), std::string::npos) << text;
}

}  // namespace
}  // namespace headroom::sweep
