// Classes that published repositories bring with them, against their model cards. Compared are
// parameters to the printed digit, bytes of cache, and the names of tensors that engines load.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "published.hpp"

namespace headroom::oracle {
namespace {

using model::Model;

/// Billions of parameters as printed; empty: not printed.
struct Card {
  const char* model;
  std::string total, active;
};

/// Sources, read 2026-11: README.md of github.com/inclusionAI/Ling and Ling-V2;
/// vllm-project/recipes models/inclusionAI/Ling-3.0-flash.yaml; changh95/vram-calculator
/// model_list.md (Nemotron); arXiv:2401.06066 (DeepSeekMoE); the cards of the others.
const Card cards[] = {
    {"inclusionAI/Ling-lite", "16.8", "2.75"},
    {"inclusionAI/Ling-mini-2.0", "16.26", "1.43"},
    {"inclusionAI/Ling-3.0-flash", "124", "5.5"},
    {"nvidia/Llama-3_3-Nemotron-Super-49B-v1", "49.87", ""},
    {"deepseek-ai/deepseek-moe-16b-base", "16.4", "2.8"},
    {"LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct", "7.8", ""},
    {"xai-org/grok-2", "270", "115"},
};

TEST(RepositoryClasses, HaveTheParametersOfTheirCards) {
  for (const Card& card : cards) {
    SCOPED_TRACE(card.model);
    const auto& profile = cached_model(card.model).profile;
    EXPECT_NEAR(static_cast<double>(profile.parameters) / 1e9, std::stod(card.total),
                rounding(card.total));
    if (card.active.empty()) continue;
    EXPECT_NEAR(static_cast<double>(profile.parameters_active) / 1e9, std::stod(card.active),
                rounding(card.active));
  }
}

/// "Number of Parameters (without embeddings): 6.98B", the card of EXAONE-3.5-7.8B-Instruct.
TEST(RepositoryClasses, CountWithoutEmbeddingsAsTheCardOfExaone) {
  const Model& m = cached_model("LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct");
  Size rest = 0;
  for (const auto& t : m.part.tensors)
    if (t.is_parameter() && t.role != model::Role::embedding && t.role != model::Role::head)
      rest += t.elements();
  EXPECT_NEAR(static_cast<double>(rest) / 1e9, 6.98, 0.005);
}

/// "3.1B MTP layer", vllm-project/recipes models/inclusionAI/Ling-3.0-flash.yaml.
TEST(RepositoryClasses, PredictFurtherTokensAsTheRecipeOfLingSays) {
  const auto& further = cached_model("inclusionAI/Ling-3.0-flash").multi_token_prediction;
  EXPECT_EQ(further.modules, 1);
  Size sum = 0;
  for (const auto& t : further.part.tensors)
    if (t.is_parameter()) sum += t.elements();
  EXPECT_NEAR(static_cast<double>(sum) / 1e9, 3.1, 0.05);
}

/// "49 of 80 blocks", "196 KiB" a token in 16 bit: changh95/vram-calculator model_list.md.
TEST(RepositoryClasses, CacheOnlyTheAttentionThatNemotronKept) {
  const Model& m = cached_model("nvidia/Llama-3_3-Nemotron-Super-49B-v1");
  EXPECT_EQ(m.part.caches.size(), 49u);
  Size bytes = 0;
  for (const auto& cache : m.part.caches) bytes += 2 * cache.per_token;
  EXPECT_EQ(bytes, 196 * 1024);
  EXPECT_EQ(m.shape.kv_heads, 8);
}

/// Names and shapes that the loaders of vLLM 0.33 and SGLang 0.5.23 take.
struct Named {
  const char* model;
  const char* tensor;
  model::Shape shape;
};
const Named names[] = {
    {"inclusionAI/Ling-lite", "model.layers.0.attention.query_key_value.weight", {3072, 2048}},
    {"inclusionAI/Ling-mini-2.0", "model.layers.19.mlp.gate.expert_bias", {256}},
    {"inclusionAI/Ling-3.0-flash", "model.layers.0.attention.q_conv1d.weight", {4096, 1, 4}},
    {"inclusionAI/Ling-3.0-flash", "model.layers.5.attention.dense.weight", {2560, 4096}},
    {"THUDM/chatglm3-6b", "transformer.encoder.layers.27.mlp.dense_h_to_4h.weight", {27392, 4096}},
    {"THUDM/chatglm3-6b", "transformer.embedding.word_embeddings.weight", {65024, 4096}},
    {"internlm/internlm2-7b", "model.layers.31.attention.wqkv.weight", {6144, 4096}},
    {"internlm/internlm2-7b", "output.weight", {92544, 4096}},
    {"internlm/internlm-chat-7b", "model.layers.0.self_attn.o_proj.bias", {4096}},
    {"baichuan-inc/Baichuan2-7B-Base", "model.layers.0.self_attn.W_pack.weight", {12288, 4096}},
    {"LGAI-EXAONE/EXAONE-3.5-7.8B-Instruct", "transformer.h.0.mlp.c_fc_1.weight", {14336, 4096}},
    {"nvidia/Llama-3_3-Nemotron-Super-49B-v1", "model.layers.0.mlp.up_proj.weight", {14336, 8192}},
};

TEST(RepositoryClasses, NameTensorsAsTheirLoadersDo) {
  for (const Named& row : names) {
    SCOPED_TRACE(std::string(row.model) + ' ' + row.tensor);
    const auto& tensors = cached_model(row.model).part.tensors;
    const auto found = std::ranges::find(tensors, row.tensor, &model::Tensor::name);
    ASSERT_NE(found, tensors.end());
    EXPECT_EQ(found->shape, row.shape);
  }
}

}  // namespace
}  // namespace headroom::oracle
