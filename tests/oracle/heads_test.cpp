// Heads of draft models, encoders and decoders that return vectors: counts against published
// totals, to their last printed digit. The configs are composed from the shapes that the sources or
// the base models state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/checkpoint/model.hpp"
#include "published.hpp"

namespace headroom::oracle {
namespace {

model::Model model_of(const std::string& config) {
  return model::make_model("config.json", model::parse_config(config, "config.json"), "");
}
/// Elements that a checkpoint holds, buffers included.
double stored_elements(const model::Model& m) {
  double sum = 0;
  for (const model::Tensor& t : m.part.tensors)
    if (t.tied_to.empty() && (t.is_parameter() || t.persistent))
      sum += static_cast<double>(t.elements());
  return sum;
}

struct Total {
  std::string_view name, config;
  std::string printed;  ///< elements of the checkpoint divided by `unit`
  double unit;
};

// EAGLE: github.com/SafeAILab/EAGLE README, "0.24B" in addition to Llama 2 7B's own embeddings, and
// issue 60: a file of 1.4 GB (of 2^30 bytes) in fp32 that holds the embeddings, too.
constexpr std::string_view eagle = R"({"architectures": ["LlamaForCausalLMEagle"],
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
    "num_attention_heads": 32, "num_hidden_layers": 1, "vocab_size": 32000})";
// DFlash: huggingface.co/Lucebox/gemma-4-31B-it-DFlash-GGUF README, shapes and 1.63 GB in Q8_0,
// which has 34 bytes for 32 elements.
constexpr std::string_view dflash = R"({"architectures": ["DFlashDraftModel"],
    "model_type": "qwen3", "hidden_size": 5376, "intermediate_size": 10752,
    "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 5,
    "vocab_size": 262144, "dflash_config": {"target_layer_ids": [1, 12, 23, 35, 46, 57]}})";
// huggingface.co/BAAI/bge-m3 README: 568M; the heads of BgeM3EmbeddingModel add 1M.
constexpr std::string_view bge_m3 = R"({"architectures": ["BgeM3EmbeddingModel"],
    "model_type": "xlm-roberta", "hidden_size": 1024, "intermediate_size": 4096,
    "max_position_embeddings": 8194, "num_attention_heads": 16, "num_hidden_layers": 24,
    "type_vocab_size": 1, "vocab_size": 250002})";
// huggingface.co/Alibaba-NLP/gte-multilingual-reranker-base README: 306M.
constexpr std::string_view gte = R"({"architectures": ["NewForSequenceClassification"],
    "model_type": "new", "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12,
    "num_hidden_layers": 12, "max_position_embeddings": 8192, "type_vocab_size": 1,
    "vocab_size": 250048, "num_labels": 1})";
// huggingface.co/LiquidAI/LFM2.5-Embedding-350M README: 354M with a vocabulary of 65,536, and 353M
// with one of 64,402 and a projection to 128.
constexpr std::string_view lfm2 = R"("model_type": "lfm2", "hidden_size": 1024,
    "num_attention_heads": 16, "num_key_value_heads": 8, "num_hidden_layers": 16,
    "block_ff_dim": 6656, "conv_L_cache": 3, "full_attn_idxs": [2, 5, 8, 10, 12, 14])";
// github.com/jina-ai: jina-reranker-v3 is Qwen3 0.6B with 0.6B parameters.
constexpr std::string_view jina = R"({"architectures": ["JinaForRanking"], "model_type": "qwen3",
    "hidden_size": 1024, "intermediate_size": 3072, "num_attention_heads": 16,
    "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 28, "vocab_size": 151936})";

TEST(Heads, CountAsPublished) {
  const std::string lfm2_vectors = R"({"architectures": ["Lfm2BidirectionalModel"], )" +
                                   std::string(lfm2) + R"(, "vocab_size": 65536})";
  const std::string lfm2_colbert = R"({"architectures": ["ColBERTLfm2Model"], )" +
                                   std::string(lfm2) + R"(, "vocab_size": 64402})";
  const Total totals[] = {
      {"EAGLE with embeddings, fp32", eagle, "1.4", 1073741824.0 / 4},
      {"DFlash of Gemma 4 31B, Q8_0", dflash, "1.63", 1e9 * 32 / 34},
      {"bge-m3 with its heads", bge_m3, "569", 1e6},
      {"gte-multilingual-reranker-base", gte, "306", 1e6},
      {"LFM2.5-Embedding-350M", lfm2_vectors, "354", 1e6},
      {"LFM2.5-ColBERT-350M", lfm2_colbert, "353", 1e6},
      {"jina-reranker-v3", jina, "0.6", 1e9},
  };
  for (const Total& row : totals) {
    const auto m = model_of(std::string(row.config));
    EXPECT_NEAR(stored_elements(m) / row.unit, std::stod(row.printed), rounding(row.printed))
        << row.name;
  }
}

/// Without the embeddings it is as large as EAGLE's authors say.
TEST(Heads, EagleHasAFractionOfTheModelItServes) {
  const auto m = model_of(std::string(eagle));
  const double alone = stored_elements(m) - 32000.0 * 4096;
  EXPECT_NEAR(alone / 1e9, 0.24, 0.005);
}

// Tensors of yuhuili/EAGLE3-LLaMA3.1-Instruct-8B. Source of names and shapes: vLLM 0.33
// llama_eagle3.py and SGLang 0.5.23 llama_eagle3.py, tables of names.
TEST(Heads, Eagle3ReadsTwoVectorsAndMapsItsVocabulary) {
  const auto m = model_of(R"({"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama",
      "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 1, "vocab_size": 128256,
      "draft_vocab_size": 32000})");
  std::map<std::string, model::Shape> shapes;
  for (const model::Tensor& t : m.part.tensors)
    if (t.is_parameter() || t.persistent) shapes[t.name] = t.shape;
  const std::map<std::string, model::Shape> expected = {
      {"d2t", {32000}},
      {"fc.weight", {4096, 3 * 4096}},
      {"lm_head.weight", {32000, 4096}},
      {"midlayer.hidden_norm.weight", {4096}},
      {"midlayer.input_layernorm.weight", {4096}},
      {"midlayer.mlp.down_proj.weight", {4096, 14336}},
      {"midlayer.mlp.gate_proj.weight", {14336, 4096}},
      {"midlayer.mlp.up_proj.weight", {14336, 4096}},
      {"midlayer.post_attention_layernorm.weight", {4096}},
      {"midlayer.self_attn.k_proj.weight", {1024, 8192}},
      {"midlayer.self_attn.o_proj.weight", {4096, 4096}},
      {"midlayer.self_attn.q_proj.weight", {4096, 8192}},
      {"midlayer.self_attn.v_proj.weight", {1024, 8192}},
      {"norm.weight", {4096}},
      {"t2d", {128256}}};
  EXPECT_EQ(shapes, expected);
}

/// Speculators' format: sizes in a section, layers by number, embeddings in the file.
TEST(Heads, SpeculatorsKeepTheirEmbeddings) {
  const auto m = model_of(R"({"architectures": ["Eagle3Speculator"], "draft_vocab_size": 100,
      "transformer_layer_config": {"model_type": "qwen3", "hidden_size": 64,
      "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2,
      "head_dim": 16, "num_hidden_layers": 1, "vocab_size": 1000}})");
  const auto has = [&](std::string_view name) {
    return std::ranges::find(m.part.tensors, name, &model::Tensor::name) != m.part.tensors.end();
  };
  EXPECT_TRUE(has("embed_tokens.weight"));
  EXPECT_TRUE(has("layers.0.self_attn.q_norm.weight"));
  EXPECT_TRUE(has("d2t"));
}

/// Hy3 preview has 295B parameters, and one layer more of 3.8B that predicts further tokens.
/// Source: huggingface.co/tencent/Hy3-preview README, with all shapes but the experts' width, which
/// the total gives.
TEST(Heads, AFurtherLayerOfHy3IsAsLargeAsItsCardSays) {
  const auto m = model_of(R"({"architectures": ["HYV3ForCausalLM"], "model_type": "hy_v3",
      "hidden_size": 4096, "intermediate_size": 13312, "moe_intermediate_size": 1536,
      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
      "num_hidden_layers": 80, "num_experts": 192, "num_experts_per_tok": 8,
      "num_shared_experts": 1, "vocab_size": 120832, "num_nextn_predict_layers": 1,
      "tie_word_embeddings": false})");
  EXPECT_NEAR(static_cast<double>(m.profile.parameters) / 1e9, 295, 0.5);
  double further = 0;
  for (const model::Tensor& t : m.multi_token_prediction.part.tensors)
    if (t.is_parameter()) further += static_cast<double>(t.elements());
  EXPECT_NEAR(further / 1e9, 3.8, 0.05);
}

/// Qwen's own repositories of Qwen3-ASR wrap the config that transformers' have.
TEST(Heads, AWrappedConfigIsTheSameModel) {
  const std::string inner = R"("audio_config": {"d_model": 896, "encoder_layers": 18,
      "encoder_attention_heads": 14, "encoder_ffn_dim": 3584, "num_mel_bins": 128,
      "output_dim": 1024, "downsample_hidden_size": 480}, "text_config": {"hidden_size": 1024,
      "intermediate_size": 3072, "num_attention_heads": 16, "num_key_value_heads": 8,
      "head_dim": 128, "num_hidden_layers": 28, "vocab_size": 151936}, "classify_num": 5000)";
  const auto config = [&](std::string_view name, std::string_view before, std::string_view after) {
    return fmt::format(R"({{"architectures": ["{}"], "model_type": "qwen3_asr", {}{}{}}})", name,
                       before, inner, after);
  };
  const std::string_view open = R"("thinker_config": {)", shut = "}";
  for (const std::string_view name :
       {"Qwen3ASRForConditionalGeneration", "Qwen3ASRForcedAlignerForTokenClassification"}) {
    SCOPED_TRACE(name);
    const auto plain = model_of(config(name, "", "")), wrapped = model_of(config(name, open, shut));
    EXPECT_EQ(plain.profile.parameters, wrapped.profile.parameters);
    EXPECT_EQ(wrapped.shape.hidden_size, 1024);
    EXPECT_EQ(wrapped.part.tensors.front().name.find("thinker."), 0u);
  }
}

TEST(Heads, RefuseWhatTheyCannotBe) {
  const auto refusal = [](const std::string& config) -> std::string {
    try {
      model_of(config);
    } catch (const model::ConfigError& e) {
      return e.what();
    }
    return "";
  };
  const std::string sizes = R"("model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
      "num_attention_heads": 4, "num_hidden_layers": 1, "vocab_size": 1000)";
  EXPECT_NE(refusal(R"({"architectures": ["LlamaForCausalLMEagle3"], "draft_vocab_size": 2000, )" +
                    sizes + "}")
                .find("found 2000, expected at most vocab_size (1000)"),
            std::string::npos);
  EXPECT_NE(
      refusal(R"({"architectures": ["LlamaForCausalLM"], "draft_vocab_size": 500, )" + sizes + "}")
          .find("LlamaForCausalLM is no such head"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"architectures": ["Qwen3DSparkModel"], "markov_rank": 8,
                        "markov_head_type": "tree", "target_layer_ids": [1], )" +
                    sizes + "}")
                .find("found 'tree', expected vanilla, gated or rnn"),
            std::string::npos);
}

}  // namespace
}  // namespace headroom::oracle
