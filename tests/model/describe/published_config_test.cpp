// Configs as they are published, not as their class writes them. Keys replace derived values,
// sections have the type of the whole model, and files leave ties open.
//
// The counts are from transformers 5.23 on the meta device, unless a row says otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/checkpoint/model.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/effective_keys.hpp"

namespace headroom::model {
namespace {

Model published_model(const std::string& json) {
  return make_model("m", parse_config(json, "m.json"), "test");
}
Size count(const std::string& json) { return published_model(json).profile.parameters; }

TEST(PublishedConfig, PositionsThatAreNoneAreAnError) {
  const auto with = [](std::string_view positions) {
    return R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2,
        "intermediate_size": 128, "num_attention_heads": 4)" +
           std::string(positions) + "}";
  };
  EXPECT_EQ(published_model(with(R"(, "max_position_embeddings": 512)")).shape.positions, 512);
  for (const std::string none : {"0", "[]"}) try {
      (void)published_model(with(R"(, "max_position_embeddings": )" + none));
      ADD_FAILURE() << none << " was accepted";
    } catch (const ConfigError& e) {
      EXPECT_EQ(std::string(e.what()),
                "m.json: key 'max_position_embeddings': found no positions, expected a number "
                "above 0");
    }
}

/// tiiuae/falcon-mamba-7b states expand 16 and intermediate_size 8192. The published checkpoint has
/// 7,272,665,088 elements.
TEST(PublishedConfig, ItsOwnKeyReplacesTheDerivedWidth) {
  EXPECT_EQ(count(R"({"architectures": ["FalconMambaForCausalLM"], "model_type": "falcon_mamba",
      "hidden_size": 4096, "vocab_size": 65024, "num_hidden_layers": 64, "expand": 16,
      "intermediate_size": 8192, "state_size": 16, "conv_kernel": 4, "time_step_rank": 256,
      "tie_word_embeddings": false, "use_bias": false, "use_conv_bias": true})"),
            7'272'665'088);
  EXPECT_EQ(count(R"({"architectures": ["MambaForCausalLM"], "model_type": "mamba",
      "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 2, "expand": 2,
      "intermediate_size": 96})"),
            55'552);
  EXPECT_EQ(count(R"({"architectures": ["Zamba2ForCausalLM"], "model_type": "zamba2",
      "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 3,
      "layers_block_type": ["mamba", "mamba", "hybrid"], "num_attention_heads": 4,
      "n_mamba_heads": 4, "mamba_d_state": 8, "adapter_rank": 8, "attention_hidden_size": 160,
      "attention_head_dim": 48, "num_mem_blocks": 1, "use_shared_attention_adapter": true,
      "use_mem_rope": true})"),
            257'012);
}

/// HuggingFaceTB/SmolVLM-256M-Instruct: its vision_config has the type "idefics3" and no number of
/// layers.
TEST(PublishedConfig, ASectionOfTheWholesTypeIsOfTheSectionsClass) {
  EXPECT_EQ(count(R"({"architectures": ["Idefics3ForConditionalGeneration"],
      "model_type": "idefics3", "scale_factor": 4, "tie_word_embeddings": false,
      "text_config": {"head_dim": 64, "hidden_size": 576, "intermediate_size": 1536,
        "model_type": "llama", "num_attention_heads": 9, "num_hidden_layers": 30,
        "num_key_value_heads": 3, "vocab_size": 49280},
      "vision_config": {"hidden_size": 768, "image_size": 512, "model_type": "idefics3",
        "num_attention_heads": 12, "patch_size": 16, "intermediate_size": 3072}})"),
            256'484'928);
}

std::string mistral3(std::string_view whole, std::string_view text) {
  return R"({"architectures": ["Mistral3ForConditionalGeneration"], "model_type": "mistral3",)" +
         std::string(whole) + R"("spatial_merge_size": 2, "multimodal_projector_bias": false,
      "text_config": {)" +
         std::string(text) + R"("head_dim": 128, "hidden_size": 5120, "intermediate_size": 32768,
        "model_type": "mistral", "num_attention_heads": 32, "num_hidden_layers": 40,
        "num_key_value_heads": 8, "vocab_size": 131072},
      "vision_config": {"head_dim": 64, "hidden_size": 1024, "image_size": 1540,
        "intermediate_size": 4096, "model_type": "pixtral", "num_attention_heads": 16,
        "num_channels": 3, "num_hidden_layers": 24, "patch_size": 14}})";
}

/// mistralai/Mistral-Small-3.1-24B-Instruct-2503 has no key for a tied head. The published
/// checkpoint has 24,011,361,280 elements, and a head is among them.
TEST(PublishedConfig, AHeadIsTiedAsTheFileOrItsTextModelSays) {
  constexpr Size published = 24'011'361'280, head = Size{131072} * 5120;
  const Model open = published_model(mistral3("", ""));
  EXPECT_EQ(open.profile.parameters, published);
  ASSERT_EQ(open.assumed.size(), 1U);
  EXPECT_NE(open.assumed[0].find("tie_word_embeddings"), std::string::npos);
  // The model that the reference builds before it reads the checkpoint.
  Size reference = 0;
  for (const Tensor& t : as_reference(open.part).tensors)
    if (t.is_parameter() && t.tied_to.empty()) reference += t.elements();
  EXPECT_EQ(reference, published - head);
  const auto stated = [](std::string_view whole, std::string_view text) {
    const Model model = published_model(mistral3(whole, text));
    EXPECT_TRUE(model.assumed.empty());
    return model.profile.parameters;
  };
  EXPECT_EQ(stated("\"tie_word_embeddings\": true,", ""), published - head);
  EXPECT_EQ(stated("", "\"tie_word_embeddings\": true,"), published - head);
  EXPECT_EQ(stated("", "\"tie_word_embeddings\": false,"), published);
  EXPECT_EQ(stated("\"tie_word_embeddings\": true,", "\"tie_word_embeddings\": false,"),
            published - head);
}

/// An override may name only keys that the description reads, in the section where it reads them.
TEST(EffectiveKeys, MatchTheKeysThatTheDescriptionReads) {
  const auto keys = effective_keys(parse_config(mistral3("", ""), "m.json"));
  EXPECT_TRUE(keys.contains("text_config.num_hidden_layers"));
  EXPECT_TRUE(keys.contains("text_config.vocab_size"));
  EXPECT_TRUE(keys.contains("tie_word_embeddings"));
  for (const auto* key : {"num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads"})
    EXPECT_FALSE(keys.contains(key)) << key;
}

}  // namespace
}  // namespace headroom::model
