// Custom models against the reference. A published model described by its sizes alone must have as
// many parameters, active parameters and cache bytes as transformers gives the model itself.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "archive.hpp"
#include "reference.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

struct Row {
  std::string_view reference;  ///< a key of counts.json
  std::string_view custom;     ///< after "custom?"
};

constexpr Row rows[] = {
    {"openai-community__gpt2",
     "hidden_size=768&layers=12&heads=12&positions=1024&vocab_size=50257&biases=all"},
    {"meta-llama__Meta-Llama-3-8B",
     "hidden_size=4096&layers=32&heads=32&kv_heads=8&intermediate_size=14336&vocab_size=128256&"
     "position_embedding=rotary&norm=rms&feed_forward=gated&tied_head=false"},
    {"Qwen__Qwen2.5-7B",
     "hidden_size=3584&layers=28&heads=28&kv_heads=4&intermediate_size=18944&vocab_size=152064&"
     "position_embedding=rotary&norm=rms&feed_forward=gated&tied_head=false&biases=qkv"},
    {"Qwen__Qwen3-0.6B",
     "hidden_size=1024&layers=28&heads=16&kv_heads=8&head_dim=128&intermediate_size=3072&"
     "vocab_size=151936&position_embedding=rotary&norm=rms&feed_forward=gated&qk_norm=head"},
    {"Qwen__Qwen3-30B-A3B",
     "hidden_size=2048&layers=48&heads=32&kv_heads=4&head_dim=128&experts=128&active_experts=8&"
     "expert_intermediate_size=768&vocab_size=151936&position_embedding=rotary&norm=rms&"
     "feed_forward=gated&qk_norm=head&tied_head=false"},
    {"mistralai__Mixtral-8x7B-v0.1",
     "hidden_size=4096&layers=32&heads=32&kv_heads=8&intermediate_size=14336&experts=8&"
     "active_experts=2&vocab_size=32000&position_embedding=rotary&norm=rms&feed_forward=gated&"
     "tied_head=false"},
    {"allenai__OLMo-2-1124-7B",
     "hidden_size=4096&layers=32&heads=32&intermediate_size=11008&vocab_size=100352&"
     "position_embedding=rotary&norm=rms&norm_placement=post&qk_norm=layer&feed_forward=gated&"
     "tied_head=false"},
    {"google__gemma-2-9b",
     "hidden_size=3584&layers=42&heads=16&kv_heads=8&head_dim=256&intermediate_size=14336&"
     "vocab_size=256000&position_embedding=rotary&norm=rms&norm_placement=both&feed_forward=gated&"
     "window=4096&full_attention_every=2"},
    {"google__gemma-3-1b-it",
     "hidden_size=1152&layers=26&heads=4&kv_heads=1&head_dim=256&intermediate_size=6912&"
     "vocab_size=262144&position_embedding=rotary&norm=rms&norm_placement=both&feed_forward=gated&"
     "qk_norm=head&window=512&full_attention_every=6"},
    {"microsoft__phi-2",
     "hidden_size=2560&layers=32&heads=32&vocab_size=51200&position_embedding=rotary&"
     "norm_placement=parallel&biases=all,head&tied_head=false"},
    {"tiiuae__falcon-7b",
     "hidden_size=4544&layers=32&heads=71&kv_heads=1&vocab_size=65024&position_embedding=rotary&"
     "norm_placement=parallel&biases=norm"},
    {"zai-org__GLM-4.5-Air",
     "hidden_size=4096&layers=46&heads=96&kv_heads=8&head_dim=128&intermediate_size=10944&"
     "experts=128&active_experts=8&expert_intermediate_size=1408&shared_experts=1&dense_layers=1&"
     "vocab_size=151552&position_embedding=rotary&norm=rms&feed_forward=gated&biases=qkv&"
     "tied_head=false"},
};

TEST(CustomModels, CountAsTheReferenceOfThePublishedModel) {
  const json::value counts =
      json::parse(oracle::file_of(oracle::read_files("catalogue"), "counts.json"));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.reference);
    const json::object& reference = counts.at(row.reference).as_object();
    const auto m = resolve_model("custom?" + std::string(row.custom));
    const Size total = reference.at("total").to_number<Size>();
    EXPECT_EQ(m.profile.parameters, total);
    EXPECT_EQ(m.profile.parameters_untied, reference.at("untied_total").to_number<Size>());
    const json::value& active = reference.at("moe_active");
    EXPECT_EQ(m.profile.parameters_active, active.is_null() ? total : active.to_number<Size>());
    Size cache = 0;
    for (const auto& each : m.part.caches) cache += 2 * each.per_token;
    EXPECT_EQ(cache, reference.at("kv_bytes_per_token_fp16").to_number<Size>());
  }
}

}  // namespace
}  // namespace headroom::sweep
