// Small configs that state or leave out a key that few files have. The counts are those of
// transformers 5.24 on the meta device.
#include <gtest/gtest.h>

#include <string>

#include "model/checkpoint/model.hpp"

namespace headroom::oracle {
namespace {

constexpr std::string_view small_text =
    R"("hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
       "num_attention_heads": 4, "vocab_size": 100)";
constexpr std::string_view small_tower =
    R"("hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
       "num_attention_heads": 2, "image_size": 28, "patch_size": 14)";

/// `keys` with $COMMON and $TOWER replaced by the above.
Size count_of(std::string_view name, std::string_view type, std::string keys) {
  const std::pair<std::string_view, std::string_view> words[] = {{"$COMMON", small_text},
                                                                 {"$TOWER", small_tower}};
  for (const auto& [word, sizes] : words)
    for (auto at = keys.find(word); at != keys.npos; at = keys.find(word))
      keys.replace(at, word.size(), sizes);
  const std::string json = R"({"architectures": [")" + std::string(name) +
                           R"("], "model_type": ")" + std::string(type) + R"(", )" + keys + "}";
  return model::make_model("m", model::parse_config(json, "m"), "test").profile.parameters;
}

/// The projector reads as many layers as the list has, under both of its names.
TEST(SmallCounts, VipLlavaReadsTheLayersThatTheConfigLists) {
  const std::string sections = R"("vision_config": {"model_type": "clip_vision_model", $TOWER},
                                  "text_config": {"model_type": "llama", $COMMON}, )";
  const std::string_view name = "VipLlavaForConditionalGeneration";
  EXPECT_EQ(count_of(name, "vipllava", sections + R"("vision_feature_layer": [-2, -5])"), 117'840);
  EXPECT_EQ(count_of(name, "vipllava", sections + R"("vision_feature_layers": [-2, -5, 1])"),
            119'952);
}

/// LlamaModel in a file of another type has the defaults of that type.
TEST(SmallCounts, TheTypeOfTheFileDecidesWhatItLeavesOut) {
  EXPECT_EQ(count_of("LlamaModel", "internlm3", R"($COMMON, "head_dim": 16)"), 68'160);
  EXPECT_EQ(count_of("DeepseekV3ForCausalLM", "sarvam_mla",
                     R"($COMMON, "moe_intermediate_size": 32, "n_routed_experts": 8,
                     "kv_lora_rank": 16)"),
            294'240);
}

/// Layers without a listed type have an indexer unless use_dsa is false, also where the config
/// states sizes of single layers.
TEST(SmallCounts, Dots3NoteHasIndexersUnlessTheConfigDeniesThem) {
  const std::string keys =
      R"($COMMON, "moe_intermediate_size": 32, "q_lora_rank": 16, "kv_lora_rank": 16,
         "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 16, "n_routed_experts": 8,
         "num_experts_per_tok": 2, "index_n_heads": 2, "index_head_dim": 16,
         "per_layer_config": {"0": {"num_attention_heads": 2}, "1": {"num_attention_heads": 2}})";
  const auto dots = [](const std::string& all) {
    return count_of("Dots3NoteForCausalLM", "dots3_note_text", all);
  };
  EXPECT_EQ(dots(keys), dots(keys + R"(, "use_dsa": true)"));
  EXPECT_GT(dots(keys), dots(keys + R"(, "use_dsa": false)"));
}

TEST(SmallCounts, XmodNormalisesBeforeItsLayersWhereTheConfigSaysSo) {
  EXPECT_EQ(count_of("XmodForMaskedLM", "xmod", R"($COMMON, "pre_norm": true)"), 111'012);
}

/// The flag of the whole ties its own head; the flag of a section ties the head of a class within.
struct StatedTie {
  std::string_view name, type, keys;
  Size parameters;
};
constexpr StatedTie stated_ties[] = {
    {"Glm46VForConditionalGeneration", "glm46v",
     R"("tie_word_embeddings": false, "vision_config": {"hidden_size": 32, "intermediate_size": 48,
          "depth": 1, "num_heads": 2, "out_hidden_size": 64, "image_size": 28},
        "text_config": {"model_type": "glm4v_text", $COMMON, "num_key_value_heads": 2,
          "tie_word_embeddings": true})",
     144'928},
    {"LlavaNextForConditionalGeneration", "llava_next",
     R"("tie_word_embeddings": false, "vision_config": {"model_type": "clip_vision_model", $TOWER},
        "text_config": {"model_type": "llama", $COMMON, "tie_word_embeddings": true})",
     115'728},
    {"Llama4ForConditionalGeneration", "llama4",
     R"("tie_word_embeddings": false, "vision_config": {"hidden_size": 32,
          "intermediate_size": 128, "num_hidden_layers": 1, "num_attention_heads": 2,
          "image_size": 28, "patch_size": 14, "vision_output_dim": 32, "projector_input_dim": 32,
          "projector_output_dim": 32},
        "text_config": {"model_type": "llama4_text", $COMMON, "head_dim": 16,
          "num_key_value_heads": 2, "intermediate_size_mlp": 96, "num_local_experts": 2,
          "tie_word_embeddings": true})",
     181'152},
    {"Step3p7ForConditionalGeneration", "step3p7",
     R"("tie_word_embeddings": true, "text_config": {"model_type": "step3p5", $COMMON},
        "vision_config": {"width": 32, "layers": 1, "heads": 2, "image_size": 28,
          "patch_size": 14})",
     573'914},
    {"Kosmos2ForConditionalGeneration", "kosmos-2",
     R"("tie_word_embeddings": false,
        "vision_config": {"model_type": "kosmos_2_vision_model", $TOWER},
        "text_config": {"model_type": "kosmos_2_text_model", "embed_dim": 64, "layers": 2,
          "ffn_dim": 96, "attention_heads": 4, "vocab_size": 100, "tie_word_embeddings": true})",
     115'344},
    {"Kosmos2_5ForConditionalGeneration", "kosmos-2.5",
     R"("tie_word_embeddings": true, "vision_config": {"model_type": "kosmos_2_5_vision_model",
          "hidden_size": 64, "intermediate_size": 48, "num_hidden_layers": 1,
          "num_attention_heads": 2, "head_dim": 32},
        "text_config": {"model_type": "kosmos_2_5_text_model", "embed_dim": 64, "layers": 2,
          "ffn_dim": 96, "attention_heads": 4, "vocab_size": 100, "tie_word_embeddings": false})",
     823'296},
    {"BlipForConditionalGeneration", "blip",
     R"("tie_word_embeddings": true,
        "vision_config": {"model_type": "blip_vision_model", $TOWER},
        "text_config": {"model_type": "blip_text_model", $COMMON, "tie_word_embeddings": false})",
     154'324},
    {"MuseSparkForConditionalGeneration", "muse_spark", R"("tie_word_embeddings": true)",
     822'036'513'792},
    {"BltForCausalLM", "blt", R"("vocab_size": 260, "tie_word_embeddings": true)", 4'632'861'440},
};

TEST(SmallCounts, AHeadIsTiedByTheFlagOfItsOwnClass) {
  for (const StatedTie& row : stated_ties)
    EXPECT_EQ(count_of(row.name, row.type, std::string(row.keys)), row.parameters) << row.name;
}

/// KimiLinearForCausalLM and BailingHybridForCausalLM name no tensors to tie.
TEST(SmallCounts, AClassWithoutTiesIgnoresTheFlag) {
  const std::string keys =
      R"($COMMON, "kv_lora_rank": 16, "q_lora_rank": 16, "qk_nope_head_dim": 16,
         "qk_rope_head_dim": 8, "v_head_dim": 16, "moe_intermediate_size": 32, "num_experts": 4,
         "num_experts_per_tok": 2, "tie_word_embeddings": )";
  for (const auto& [name, type] : {std::pair("KimiLinearForCausalLM", "kimi_linear"),
                                   std::pair("BailingHybridForCausalLM", "bailing_hybrid")})
    EXPECT_EQ(count_of(name, type, keys + "true"), count_of(name, type, keys + "false")) << name;
}

/// Keys that few files state.
struct RareKey {
  std::string_view name, type, keys;
  Size parameters;
};
constexpr RareKey rare_keys[] = {
    {"ParakeetForCTC", "parakeet_ctc",
     R"("vocab_size": 100, "pad_token_id": 1, "encoder_config": {"model_type": "parakeet_encoder",
          "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "subsampling_conv_channels": 16,
          "num_mel_bins": 16})",
     120'612},
    {"T5ForConditionalGeneration", "t5",
     R"("d_model": 64, "d_ff": 96, "d_kv": 16, "num_layers": 1, "num_heads": 4, "vocab_size": 100,
        "is_gated_act": true)",
     93'120},
    {"EuroBertForMaskedLM", "eurobert", R"($COMMON, "mlp_bias": true, "head_dim": 16)", 83'364},
    {"Ovis2ForConditionalGeneration", "ovis2",
     R"("tie_word_embeddings": false, "hidden_size": 64, "vocab_size": 120,
        "vision_config": {$TOWER, "vocab_size": 200},
        "text_config": {"model_type": "qwen2", $COMMON, "num_key_value_heads": 2})",
     123'334},
    {"IdeficsForVisionText2Text", "idefics",
     R"($COMMON, "alpha_type": "vector", "vision_config": {"embed_dim": 32, $TOWER})", 171'344},
};

TEST(SmallCounts, RareKeysCount) {
  for (const RareKey& row : rare_keys)
    EXPECT_EQ(count_of(row.name, row.type, std::string(row.keys)), row.parameters) << row.name;
}

}  // namespace
}  // namespace headroom::oracle
