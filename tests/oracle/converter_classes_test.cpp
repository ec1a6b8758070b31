// Classes that only llama.cpp's converter or mlx-lm know: their elements, summed by hand over the
// tensors that the modeling code of their checkpoints creates. W: hidden size, V: vocabulary, F:
// feed-forward.
#include <gtest/gtest.h>

#include "model/checkpoint/model.hpp"

namespace headroom::oracle {
namespace {

Size parameters(std::string_view class_name, std::string_view type, std::string_view keys) {
  const std::string json = R"({"architectures": [")" + std::string(class_name) +
                           R"("], "model_type": ")" + std::string(type) + R"(", )" +
                           std::string(keys) + "}";
  return model::make_model("m", model::parse_config(json, "m"), "test").profile.parameters;
}

constexpr Size W = 256, V = 512, F = 384;
constexpr std::string_view common =
    R"("hidden_size": 256, "vocab_size": 512, "intermediate_size": 384, "num_hidden_layers": 3,
       "num_attention_heads": 4, "num_key_value_heads": 2)";

/// modeling_jais.py: matrices with biases, two of the feed-forward's inputs, a tied head.
TEST(ConverterClasses, Jais) {
  const Size layer = (3 * W * W + 3 * W) + (W * W + W) + 2 * (W * F + F) + (F * W + W) + 4 * W;
  EXPECT_EQ(parameters("JAISLMHeadModel", "jais",
                       R"("n_embd": 256, "vocab_size": 512, "n_inner": 384, "n_layer": 3,
                          "n_head": 4, "n_positions": 64, "activation_function": "swiglu",
                          "position_embedding_type": "alibi")"),
            V * W + 3 * layer + 2 * W);
}

/// mlx-lm 0.32.2 models/Klear.py, instantiated: 167,984 elements, of which 12 are the experts'
/// biases of two layers, which are buffers here.
TEST(ConverterClasses, Klear) {
  EXPECT_EQ(parameters("KlearMoeForCausalLM", "Klear",
                       R"("hidden_size": 64, "vocab_size": 100, "intermediate_size": 96,
                    "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
                    "num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                    "n_shared_experts": 2, "mlp_only_layers": [0], "decoder_sparse_step": 1)"),
            167984 - 2 * 6);
}

/// OpenELM-270M's own sizes (apple/OpenELM, "0.27 B"): 16 layers of width 1280, heads of 64.
TEST(ConverterClasses, OpenElm) {
  constexpr Size query[] = {12, 12, 12, 12, 12, 16, 16, 16, 16, 16, 16, 16, 20, 20, 20, 20};
  constexpr Size inner[] = {768,  1024, 1280, 1536, 1792, 2048, 2560, 2816,
                            3072, 3328, 3584, 3840, 4352, 4608, 4864, 5120};
  Size sum = 32000 * Size{1280} + 1280;
  for (int i = 0; i < 16; ++i)
    sum += 1280 * 64 * (query[i] + 2 * query[i] / 4) + 64 * query[i] * 1280 + 2 * 64 +
           3 * 1280 * inner[i] + 2 * 1280;
  EXPECT_EQ(parameters("OpenELMForCausalLM", "openelm",
                       R"("model_dim": 1280, "head_dim": 64, "num_transformer_layers": 16,
                    "num_query_heads": [12,12,12,12,12,16,16,16,16,16,16,16,20,20,20,20],
                    "num_kv_heads": [3,3,3,3,3,4,4,4,4,4,4,4,5,5,5,5], "vocab_size": 32000,
                    "ffn_multipliers": [0.5,0.73,0.97,1.2,1.43,1.67,1.9,2.13,2.37,2.6,2.83,3.07,
                                        3.3,3.53,3.77,4.0], "ffn_dim_divisor": 256)"),
            sum);
  EXPECT_NEAR(static_cast<double>(sum) / 1e9, 0.27, 0.005);
}

/// model.py of NeoBERT's own sizes: 222 M in arXiv:2502.19587, without the head.
TEST(ConverterClasses, NeoBert) {
  const Size layer = 3 * 768 * 768 + 768 * 768 + 3 * 768 * Size{2048} + 2 * 768;
  const Size body = 30522 * Size{768} + 28 * layer + 768;
  const std::string keys = R"("hidden_size": 768, "vocab_size": 30522, "intermediate_size": 3072,
                              "num_hidden_layers": 28, "num_attention_heads": 12)";
  EXPECT_EQ(parameters("NeoBERT", "neobert", keys), body);
  EXPECT_EQ(parameters("NeoBERTLMHead", "neobert", keys), body + 30522 * Size{768} + 30522);
  EXPECT_NEAR(static_cast<double>(body) / 1e6, 222, 0.5);
}

/// modeling_grove_moe.py: 8 experts of 64 in groups of two, 4 shared ones of a head's width.
TEST(ConverterClasses, GroveMoe) {
  const Size attention = 2 * W * 4 * 64 + 2 * W * 2 * 64 + 2 * 64;
  const Size mixture = 8 * W + 8 * 3 * W * 64 + 4 * 3 * W * 64;
  EXPECT_EQ(parameters("GroveMoeForCausalLM", "grove_moe",
                       std::string(common) + R"(, "head_dim": 64, "moe_intermediate_size": 64,
                                                  "num_experts": 8, "num_experts_per_tok": 2)"),
            2 * V * W + 3 * (attention + mixture + 2 * W) + W);
}

/// Talkie: gains of each head, of both halves and of the embedding; no norm has a weight.
TEST(ConverterClasses, Talkie) {
  const Size layer = 2 * W * W + 2 * W * 128 + 4 + 3 * W * F + 3;
  EXPECT_EQ(parameters("TalkieForCausalLM", "talkie", common), 2 * V * W + 3 * layer + 1);
}

/// modeling_rwkv6.py: ranks of 32 and 64 unless the width is 4096.
TEST(ConverterClasses, Rwkv6) {
  const Size mixing = 6 * W + W * 5 * 32 + 5 * 32 * W + W + 2 * W * 64;
  const Size layer = mixing + W + 5 * W * W + 2 * W        // attention with its first term and norm
                     + 2 * W + 2 * W * F + W * W + 4 * W;  // channel mixing, two norms
  EXPECT_EQ(parameters("Rwkv6ForCausalLM", "rwkv6",
                       R"("hidden_size": 256, "vocab_size": 512, "intermediate_size": 384,
                          "num_hidden_layers": 3, "head_size": 64)"),
            2 * V * W + 3 * layer + 2 * W + 2 * W);
  const Size kv = 2 * 64;
  const Size qwen = mixing + 3 * W * W + 2 * W * kv + W + 2 * kv + 3 * W * F + 2 * W;
  EXPECT_EQ(parameters("RWKV6Qwen2ForCausalLM", "rwkv6qwen2", common), 2 * V * W + 3 * qwen + W);
}

/// RWKV-7's sizes of 0.19 billion (arXiv:2503.14456): ranks of 64, 64, 32 and 128.
TEST(ConverterClasses, Rwkv7) {
  constexpr Size w = 768;
  const auto low_rank = [](Size rank) { return 2 * w * rank + w; };
  const Size layer = 6 * w + 3 * w + 4 * w * w + 2 * low_rank(64) + 2 * w * 128 +
                     2 * w  // attention
                     + w + 2 * w * 4 * w + 4 * w;
  const Size sum = 2 * 65536 * w + 12 * layer + 11 * low_rank(32) + 2 * w + 2 * w;
  EXPECT_EQ(parameters("RWKV7ForCausalLM", "rwkv7",
                       R"("hidden_size": 768, "vocab_size": 65536, "intermediate_size": 3072,
                          "num_hidden_layers": 12, "head_dim": 64, "decay_low_rank_dim": 64,
                          "a_low_rank_dim": 64, "v_low_rank_dim": 32, "gate_low_rank_dim": 128)"),
            sum);
  EXPECT_NEAR(static_cast<double>(sum) / 1e9, 0.19, 0.005);
}

/// CogVLM-17B's own sizes and published total (THUDM/cogvlm-chat-hf): its layers of
/// width 4096 have each matrix twice.
TEST(ConverterClasses, CogVlm) {
  constexpr Size w = 4096, f = 11008, v = 1792, g = 15360;
  const Size text = 2 * 32000 * w + w + 32 * (2 * (4 * w * w + 3 * w * f) + 2 * w);
  const Size layer = 4 * v * v + 4 * v + 2 * v * g + g + v + 4 * v;
  const Size tower = 63 * layer + (3 * 14 * 14 + 1) * v + v + 1226 * v;
  const Size projector = v * w + 2 * w + 3 * w * f + 2 * w;
  EXPECT_EQ(text + tower + projector, 17'639'685'376);
  EXPECT_EQ(parameters("CogVLMForCausalLM", "cogvlm",
                       R"("hidden_size": 4096, "vocab_size": 32000, "intermediate_size": 11008,
                          "num_hidden_layers": 32, "num_attention_heads": 32, "vision_config":
                          {"hidden_size": 1792, "intermediate_size": 15360, "patch_size": 14,
                           "num_positions": 1226, "num_hidden_layers": 63, "in_channels": 3})"),
            17'639'685'376);
}

/// A state of a head's width for each channel, and the last token for each half.
TEST(ConverterClasses, RwkvKeepsStatesOnly) {
  const auto m = model::make_model(
      "m",
      model::parse_config(R"({"architectures": ["RWKV7ForCausalLM"], "model_type": "rwkv7",
        "hidden_size": 256, "vocab_size": 512, "num_hidden_layers": 2, "head_dim": 64})",
                          "m"),
      "test");
  ASSERT_EQ(m.part.caches.size(), 2U);
  EXPECT_EQ(m.part.caches[0].per_sequence, W * 64 + 2 * W);
  EXPECT_EQ(m.part.caches[0].in_fp32, W * 64);
  EXPECT_EQ(m.part.caches[0].per_token, 0);
}

/// Options that the description does not cover are errors.
TEST(ConverterClasses, OtherOptionsAreErrors) {
  const auto refused = [](std::string_view name, std::string_view type, std::string_view keys) {
    EXPECT_THROW(parameters(name, type, keys), model::ConfigError) << keys;
  };
  refused("JAISLMHeadModel", "jais", R"("n_embd": 256, "vocab_size": 9, "n_layer": 1, "n_head": 4,
                                        "activation_function": "gelu")");
  refused("JinaBertModel", "bert",
          std::string(common) + R"(, "position_embedding_type": "absolute")");
  refused("RwkvHybridForCausalLM", "rwkv_hybrid", std::string(common) + R"(, "wkv_version": 6)");
  refused("NomicBertModel", "nomic_bert",
          std::string(common) + R"(, "activation_function": "relu")");
}

}  // namespace
}  // namespace headroom::oracle
