// Classes that transformers does not have, described by the code of engines. They are checked
// against published totals, and keys and values for each token computed by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "published.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

using model::CacheKind;
using model::Model;

/// Elements that a file holds: parameters, and buffers that are saved.
Size held_by_file(const Model& m) {
  Size sum = 0;
  for (const model::Tensor& t : m.part.tensors)
    if (t.is_parameter() ? t.tied_to.empty() : t.persistent) sum += t.elements();
  return sum;
}

/// A model of the catalogue, or a config of this folder: where the published model has towers too,
/// or is only counted.
const Model& engine_model(const std::string& name) {
  if (name.find('/') != std::string::npos) return cached_model(name);
  static std::map<std::string, Model> models;
  const auto it = models.find(name);
  if (it != models.end()) return it->second;
  std::ifstream file(data_path("engine_configs/" + name + ".json"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return models.emplace(name, model::make_model(name, model::parse_config(text, name), "test"))
      .first->second;
}

struct ExactTotal {
  const char* model;
  Size elements;
};
/// Read 2026-11-25. Qwen-7B: table of github MrYxJ/calculate-flops.pytorch. MiniCPM-2B:
/// n_parameters of openbmb/MiniCPM-Embedding, its fine-tune, in github embeddings-benchmark/mteb.
/// MiniMax-Text-01 and LLaDA2.0-mini: safetensors totals on huggingface.co of MiniMax-M1-80k and
/// Ling-mini-2.0, which have their sizes. Nomic and Jina: n_parameters of nomic-embed-text-v2-moe
/// and jina-embeddings-v2-base-en in embeddings-benchmark/mteb.
constexpr ExactTotal exact_totals[] = {
    {"Qwen/Qwen-7B", 7'721'324'544},
    {"openbmb/MiniCPM-2B-sft-bf16", 2'724'880'896},
    {"MiniMaxAI/MiniMax-Text-01", 456'089'655'296},
    {"llada2_mini", 16'255'643'392},
    {"nomic_embed_v2_moe", 475'292'928},
    {"jina_v2_base_en", 137'368'320},
};

TEST(EngineClasses, EqualPublishedTotals) {
  for (const ExactTotal& row : exact_totals)
    EXPECT_EQ(held_by_file(engine_model(row.model)), row.elements) << row.model;
}

struct RoundTotal {
  const char* model;
  const char* billions;  ///< as its card prints it; empty: not published
  double within;         ///< half a unit of the last digit
  const char* active;    ///< likewise
  Size without = 0;      ///< embeddings that the card does not count as active
};
/// Read 2026-11-25 from each model's card. Step3 and Mistral Large 3: of the language model alone.
/// Sarvam counts what is active without embeddings and head, Mistral and Pangu without the
/// embedding. Gemma 4's 3.8 is without its vision tower (the card as huggingface.co
/// OpenExplorer/gemma-4-26B-A4B-it quotes it, read 2026-11-26). Pangu's 718 has one embedding only,
/// so its total is compared to half a percent.
constexpr RoundTotal round_totals[] = {
    {"step3_text", "316", 0.5, ""},
    {"mistral_large_3_text", "673", 0.5, "39", 131072 * Size{7168}},
    {"XiaomiMiMo/MiMo-V2.5-Pro", "1020", 5, "42"},
    {"openpangu/openPangu-Ultra-MoE-718B", "718", 3.6, "39", 153600 * Size{7680}},
    {"sarvamai/sarvam-105b", "", 0, "10.3", 2 * 262144 * Size{4096}},
    {"xverse/XVERSE-MoE-A4.2B", "25.8", 0.05, "4.2"},
    {"google/gemma-4-26B-A4B", "", 0, "3.8"},
    {"ByteDance/Ouro-1.4B", "1.4", 0.05, ""},
};

TEST(EngineClasses, RoundToThePublishedTotals) {
  for (const RoundTotal& row : round_totals) {
    SCOPED_TRACE(row.model);
    const model::Profile& profile = engine_model(row.model).profile;
    const std::string total = row.billions, active = row.active;
    if (!total.empty()) {
      EXPECT_NEAR(static_cast<double>(profile.parameters) / 1e9, std::stod(total), row.within);
    }
    if (!active.empty()) {
      EXPECT_NEAR(static_cast<double>(profile.parameters_active - row.without) / 1e9,
                  std::stod(active), rounding(active));
    }
  }
}

struct CacheRow {
  const char* model;
  CacheKind kind;
  Size per_token;     ///< elements of all layers for one token
  Size per_sequence;  ///< bytes of all layers for one sequence
};
/// By hand from the sizes of each config. Sarvam 105B: 32 * 576 (36 KiB in 16 bit, as its card
/// says). Kimi K3: 24 layers of latents of 576; 69 layers with 96 heads of 128 * 128 and the last 4
/// inputs of 3 * 12288 channels. Step-5: 92 * 2 * 4 * 192; 23 layers with 256 elements for every 8
/// tokens. MiMo: 8 heads of 192 + 128 in 70 layers. Ouro: 24 layers that run 4 times, with keys
/// and values of each run.
constexpr CacheRow cache_rows[] = {
    {"sarvamai/sarvam-105b", CacheKind::latent, 18432, 0},
    {"sarvamai/sarvam-30b", CacheKind::self_attention, 19 * 2 * 4 * 64, 0},
    {"kimi_k3_text", CacheKind::latent, 13824, 0},
    {"kimi_k3_text", CacheKind::recurrent, 0, 69 * (96 * 16384 + 4 * 36864)},
    {"step5_text", CacheKind::self_attention, 141312, 0},
    {"step5_text", CacheKind::indexer, 736, 0},
    {"step3_text", CacheKind::self_attention, 61 * 2 * 256, 0},
    {"minimax_m3_text", CacheKind::self_attention, 60 * 2 * 4 * 128, 0},
    {"minimax_m3_text", CacheKind::indexer, 57 * 128, 0},
    {"XiaomiMiMo/MiMo-V2.5-Pro", CacheKind::self_attention, 70 * 8 * 320, 0},
    {"MiniMaxAI/MiniMax-Text-01", CacheKind::self_attention, 10 * 2 * 8 * 128, 0},
    {"MiniMaxAI/MiniMax-Text-01", CacheKind::recurrent, 0, 70 * 64 * 16384},
    {"openbmb/MiniCPM-SALA", CacheKind::self_attention, 8 * 2 * 2 * 128, 0},
    {"openbmb/MiniCPM-SALA", CacheKind::recurrent, 0, 24 * 32 * 16384},
    {"pfnet/plamo-2-1b", CacheKind::self_attention, 8 * 2 * 128, 0},
    {"openpangu/openPangu-Ultra-MoE-718B", CacheKind::latent, 61 * 576, 0},
    {"ByteDance/Ouro-1.4B", CacheKind::self_attention, 4 * 24 * 2 * 16 * 128, 0},
};

TEST(EngineClasses, KeepWhatTheirSizesGive) {
  for (const CacheRow& row : cache_rows) {
    SCOPED_TRACE(row.model);
    Size token = 0, sequence = 0;
    for (const model::Cache& cache : engine_model(row.model).part.caches)
      if (cache.kind == row.kind) token += cache.per_token, sequence += cache.per_sequence;
    EXPECT_EQ(token, row.per_token);
    EXPECT_EQ(sequence, row.per_sequence);
  }
}

struct TensorRow {
  const char* model;
  const char* tensor;
  model::Shape shape;
};
/// From headers of the checkpoints: rene98c/Step-5-Preview-BF16 and moonshotai/Kimi-K3, as notes
/// and tests on github quote them (read 2026-11-25).
const TensorRow tensor_rows[] = {
    {"step5_text", "model.layers.3.self_attn.sparse_indexer_q.weight", {4096, 4096}},
    {"step5_text", "model.layers.91.self_attn.sparse_indexer_z.weight", {256, 4096}},
    {"step5_text", "model.layers.3.self_attn.sparse_indexer_w.weight", {16, 4096}},
    {"step5_text", "model.layers.3.self_attn.ssmax_s", {64}},
    {"step5_text", "model.layers.7.self_attn.q_proj.weight", {12288, 4096}},
    {"step5_text", "model.layers.7.self_attn.k_proj.weight", {768, 4096}},
    {"step5_text", "model.layers.6.self_attn.g_proj.weight", {64, 4096}},
    {"step5_text", "model.layers.7.moe.gate.weight", {352, 4096}},
    {"step5_text", "model.layers.7.moe.router_bias", {352}},
    {"step5_text", "model.layers.7.moe.up_proj.weight", {352, 1536, 4096}},
    {"step5_text", "model.layers.7.moe.down_proj.weight", {352, 4096, 1536}},
    {"step5_text", "model.layers.7.share_expert.down_proj.weight", {4096, 1536}},
    {"step5_text", "model.layers.91.mlp.up_proj.weight", {13824, 4096}},
    {"kimi_k3_text", "model.layers.0.self_attn.q_proj.weight", {12288, 7168}},
    {"kimi_k3_text", "model.layers.0.self_attn.g_proj.weight", {12288, 7168}},
    {"kimi_k3_text", "model.layers.3.self_attn.g_proj.weight", {12288, 7168}},
    {"kimi_k3_text", "model.layers.0.self_attn.dt_bias", {12288}},
    {"kimi_k3_text", "model.layers.0.self_attn.q_conv1d.weight", {12288, 1, 4}},
    {"kimi_k3_text", "model.layers.3.self_attn.kv_a_proj_with_mqa.weight", {576, 7168}},
    {"kimi_k3_text", "model.layers.3.self_attn.kv_b_proj.weight", {24576, 512}},
    {"kimi_k3_text", "model.layers.0.mlp_res_proj.weight", {1, 7168}},
};

TEST(EngineClasses, HaveTheTensorsOfPublishedHeaders) {
  for (const TensorRow& row : tensor_rows) {
    const auto& tensors = engine_model(row.model).part.tensors;
    const auto found = std::ranges::find(tensors, row.tensor, &model::Tensor::name);
    ASSERT_NE(found, tensors.end()) << row.tensor;
    EXPECT_EQ(found->shape, row.shape) << row.tensor;
  }
}

/// The checkpoint takes 1.56 TB: routed experts in MXFP4 (17 bytes for 32 elements), the rest in
/// bf16. Source: github, the same test on Kimi K3's headers.
TEST(EngineClasses, KimiK3TakesThePublishedBytes) {
  double bytes = 0;
  for (const model::Tensor& t : engine_model("kimi_k3_text").part.tensors)
    if (t.is_parameter()) bytes += static_cast<double>(t.elements()) * (t.of > 1 ? 17.0 / 32 : 2.0);
  EXPECT_NEAR(bytes / 1e12, 1.56, 0.005);
}

const model::Tensor& tensor_of(const Model& m, std::string_view name) {
  return *std::ranges::find(m.part.tensors, name, &model::Tensor::name);
}

TEST(EngineClasses, NemotronPuzzleSizesEachLayerByItsBlock) {
  const Model m = model::make_model("puzzle",
                                    model::parse_config(R"({
    "architectures": ["NemotronHPuzzleForCausalLM"], "model_type": "nemotron_h_puzzle",
    "hidden_size": 64, "vocab_size": 100, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 16, "mamba_num_heads": 4, "mamba_head_dim": 16, "n_groups": 2,
    "ssm_state_size": 8, "n_routed_experts": 8, "moe_latent_size": 32,
    "moe_shared_expert_intermediate_size": 48, "num_experts_per_tok": 1, "block_configs": [
      {"block_type": "mamba"},
      {"block_type": "moe", "moe_intermediate_size": 40, "num_experts_per_tok": 2},
      {"block_type": "attention", "sliding_window": 128},
      {"block_type": "moe", "moe_intermediate_size": 24, "num_experts_per_tok": 4}]})",
                                                        "puzzle"),
                                    "test");
  const auto& wide = tensor_of(m, "model.layers.1.mixer.experts.up_proj");
  const auto& narrow = tensor_of(m, "model.layers.3.mixer.experts.up_proj");
  EXPECT_EQ(wide.shape, (model::Shape{8, 40, 32}));
  EXPECT_EQ(narrow.shape, (model::Shape{8, 24, 32}));
  EXPECT_EQ(wide.used, 2);
  EXPECT_EQ(narrow.used, 4);
  EXPECT_EQ(std::ranges::count(m.part.caches, 128, &model::Cache::window), 1);
}

/// Names that engines give to a class leave it the one that a model_type means.
TEST(EngineClasses, AConfigWithoutClassMeansTransformers) {
  for (const auto& [type, name] : {std::pair{"llama", "LlamaForCausalLM"},
                                   {"mixtral", "MixtralForCausalLM"},
                                   {"deepseek_v3", "DeepseekV3ForCausalLM"}}) {
    const std::string json =
        std::string(R"({"model_type": ")") + type +
        R"(", "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 1, "moe_intermediate_size":
        8, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4,
        "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2})";
    EXPECT_EQ(model::make_model(type, model::parse_config(json, type), "test").architecture, name);
  }
}

/// Keys that vLLM's class reads without a default, and lists that are too short for it.
TEST(EngineClasses, TowersOfMiMoThatCannotBeReadAreErrors) {
  const auto refusal = [](std::string_view sections) {
    const std::string json =
        R"({"architectures": ["MiMoV2OmniForCausalLM"], "model_type": "mimo_v2", "hidden_size": 64,
            "intermediate_size": 64, "moe_intermediate_size": 8, "num_hidden_layers": 1,
            "num_attention_heads": 8, "num_key_value_heads": 4, "vocab_size": 100,
            "n_routed_experts": 4, "num_experts_per_tok": 1)" +
        std::string(sections) + "}";
    try {
      model::make_model("mimo", model::parse_config(json, "mimo"), "test");
    } catch (const model::ConfigError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto audio = [&](std::string_view keys) {
    return refusal(R"(, "vision_config": {}, "audio_config": {)" + std::string(keys) + "}");
  };
  EXPECT_EQ(refusal(R"(, "vision_config": {})"), "");
  EXPECT_NE(refusal("").find("vision_config"), std::string::npos);
  EXPECT_EQ(audio(R"("speech_vocab_size": 20, "audio_channels": 3)"), "");
  EXPECT_EQ(audio(R"("speech_vocab_size": "20-30-40", "audio_channels": 3)"), "");
  EXPECT_NE(audio(R"("speech_vocab_size": "20-30", "audio_channels": 3)")
                .find("speech_vocab_size': found 2 sizes for 3 audio_channels"),
            std::string::npos);
  EXPECT_NE(audio(R"("speech_vocab_size": "20-x")").find("found '20-x'"), std::string::npos);
  EXPECT_NE(audio(R"("projection_layers": 3)").find("found 3, expected 1 or 2"), std::string::npos);
}

/// No stage of an audio tower is cut short: one that is too deep is an error.
TEST(EngineClasses, ATooDeepStageOfMuseSparkIsAnError) {
  const model::Config config = model::parse_config(R"({
    "architectures": ["MuseSparkForConditionalGeneration"], "model_type": "muse_spark",
    "audio_config": {"hidden_sizes": [8], "patch_sizes": [2], "depths": [4097],
                     "out_hidden_size": 8}, "text_config": {"hidden_size": 8,
    "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "vocab_size": 8}})",
                                                   "spark");
  try {
    model::make_model("spark", config, "test");
    FAIL();
  } catch (const model::ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("audio_config.depths': found 4097, at most 4096"),
              std::string::npos)
        << e.what();
  }
}

}  // namespace
}  // namespace headroom::oracle
