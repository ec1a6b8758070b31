// Custom models: derived values, assumed values and impossible values.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/describe/config.hpp"
#include "sweep/sources/custom_source.hpp"

namespace headroom::sweep {
namespace {

model::Model custom(const std::string& keys) { return resolve_model("custom?" + keys); }
model::Model toml(std::string_view text) {
  return model_from_toml(text, "my.toml", {"my.toml", {}});
}

template <class F>
std::string custom_complaint(F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "none";
}
std::string complaint_of(const std::string& keys) {
  return custom_complaint([&] { custom(keys); });
}
std::string toml_complaint(std::string_view text) {
  return custom_complaint([&] { toml(text); });
}
bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Each layer has 12 * hidden^2 elements and two norm weights. The model also has a final norm and
/// 50257 + 512 rows of embeddings. A published estimator of such models prints these figures
/// (30.12, 123.94 and 354.03 million).
TEST(CustomModel, DefaultsAreASmallGpt) {
  EXPECT_EQ(custom("hidden_size=384&layers=6&heads=6").profile.parameters, 30'117'120);
  EXPECT_EQ(custom("model_embd=768&model_layer=12").profile.parameters, 123'944'448);
  EXPECT_EQ(
      custom("model_embd=1024&model_layer=24&model_head=16&model_positions=512").profile.parameters,
      354'027'520);
}

TEST(CustomModel, EverythingAssumedIsSaid) {
  const auto small = custom("hidden_size=384&layers=6");
  for (const auto* key :
       {"heads 6", "kv_heads 6", "head_dim 64", "vocab_size 50257", "positions 512",
        "intermediate_size 1536", "position_embedding learned", "norm layer", "norm_placement pre",
        "qk_norm none", "feed_forward plain", "biases none", "tied_head true"})
    EXPECT_TRUE(std::ranges::any_of(small.assumed, [&](const auto& line) {
      return line.starts_with(key);
    })) << key;
  const auto whole = custom(
      "hidden_size=64&layers=1&heads=1&kv_heads=1&head_dim=64&vocab_size=10&positions=8&"
      "position_embedding=learned&intermediate_size=4&norm=layer&norm_placement=pre&qk_norm=none&"
      "feed_forward=plain&biases=none&tied_head=true");
  EXPECT_TRUE(whole.assumed.empty());
}

/// Each additional key changes the count by the size of its tensors.
TEST(CustomModel, EveryKeyCounts) {
  const std::string base =
      "hidden_size=64&layers=2&heads=4&vocab_size=100&positions=32&intermediate_size=96";
  const Size parameters = custom(base).profile.parameters;
  // Embeddings have 100 * 64 + 32 * 64 elements, a layer 4 * 64^2 + 2 * 64 * 96 + 2 * 64, and the
  // final norm 64.
  ASSERT_EQ(parameters, 132 * 64 + 2 * (4 * 64 * 64 + 2 * 64 * 96 + 2 * 64) + 64);
  const auto more = [&](const std::string& keys) {
    return custom(base + '&' + keys).profile.parameters - parameters;
  };
  EXPECT_EQ(more("kv_heads=1"), -2 * 2 * 64 * 48);
  EXPECT_EQ(more("head_dim=32"), 2 * 4 * 64 * 64);
  EXPECT_EQ(more("position_embedding=rotary"), -32 * 64);
  EXPECT_EQ(more("position_embedding=none"), -32 * 64);
  EXPECT_EQ(more("norm_placement=post"), 0);
  EXPECT_EQ(more("norm_placement=both"), 2 * 2 * 64);
  EXPECT_EQ(more("norm_placement=parallel"), -2 * 64);
  EXPECT_EQ(more("norm=rms"), 0);
  EXPECT_EQ(more("qk_norm=head"), 2 * (16 + 16));
  EXPECT_EQ(more("qk_norm=layer&kv_heads=1"), -2 * 2 * 64 * 48 + 2 * (64 + 16));
  EXPECT_EQ(more("feed_forward=gated"), 2 * 64 * 96);
  EXPECT_EQ(more("biases=qkv"), 2 * 3 * 64);
  EXPECT_EQ(more("biases=out"), 2 * 64);
  EXPECT_EQ(more("biases=mlp"), 2 * (96 + 64));
  EXPECT_EQ(more("biases=norm"), 5 * 64);
  EXPECT_EQ(more("biases=head"), 100);
  EXPECT_EQ(more("biases=all"), 2 * (3 * 64 + 64 + 96 + 64) + 5 * 64);
  EXPECT_EQ(more("norm=rms&biases=all"), 2 * (3 * 64 + 64 + 96 + 64));
  EXPECT_EQ(more("tied_head=false"), 100 * 64);
  EXPECT_EQ(more("window=8"), 0);
}

TEST(CustomModel, MixturesCountTheirExperts) {
  const std::string base =
      "hidden_size=64&layers=3&heads=4&vocab_size=100&positions=32&expert_intermediate_size=16&"
      "experts=8&active_experts=2";
  const Size shared_parts = 132 * 64 + 3 * (4 * 64 * 64 + 2 * 64) + 64;
  const Size expert = 2 * 64 * 16, router = 8 * 64;
  const auto m = custom(base);
  EXPECT_EQ(m.profile.parameters, shared_parts + 3 * (router + 8 * expert));
  EXPECT_EQ(m.profile.parameters_active, shared_parts + 3 * (router + 2 * expert));
  EXPECT_EQ(custom(base + "&shared_experts=2").profile.parameters,
            m.profile.parameters + 3 * 2 * expert);
  EXPECT_EQ(custom(base + "&biases=mlp").profile.parameters,
            m.profile.parameters + 3 * 8 * (16 + 64));
  EXPECT_EQ(custom(base + "&dense_layers=1&intermediate_size=32").profile.parameters,
            shared_parts + 2 * (router + 8 * expert) + 2 * 64 * 32);
}

TEST(CustomModel, WindowsReachTheCache) {
  const auto m = custom("hidden_size=64&layers=6&window=128&full_attention_every=3");
  std::vector<Size> windows;
  for (const auto& cache : m.part.caches) windows.push_back(cache.window);
  EXPECT_EQ(windows, (std::vector<Size>{128, 128, 0, 128, 128, 0}));
}

TEST(CustomModel, ContradictionsNameTheFlags) {
  EXPECT_TRUE(has(complaint_of("layers=2"), "--hidden-size is missing"));
  EXPECT_TRUE(has(complaint_of("hidden_size=64"), "--layers is missing"));
  EXPECT_TRUE(has(complaint_of("hidden_size=0&layers=1"), "--hidden-size: found '0'"));
  EXPECT_TRUE(has(complaint_of("hidden_size=64.0&layers=1"), "expected a whole number"));
  EXPECT_TRUE(
      has(complaint_of("hidden_size=64&layers=5000"), "--layers: found 5000, at most 4096"));
  EXPECT_TRUE(has(complaint_of("hidden_size=100&layers=1"), "give --heads"));
  EXPECT_TRUE(has(complaint_of("hidden_size=64&layers=1&heads=5"), "--heads: found 5"));
  const std::string base = "hidden_size=64&layers=4&heads=4&";
  for (const auto& [keys, expected] : std::vector<std::pair<std::string, std::string>>{
           {"kv_heads=3", "--kv-heads: found 3, expected a divisor of --heads (4)"},
           {"feed_forward=gated", "--intermediate-size: a gated feed-forward needs it"},
           {"feed_forward=swiglu", "--feed-forward: found 'swiglu', expected plain, gated"},
           {"norm=rms&biases=norm", "--biases: found 'norm', but RMS norms have no bias"},
           {"biases=none,qkv", "--biases: found 'none,qkv'"},
           {"full_attention_every=2", "--full-attention-every: has no effect without --window"},
           {"window=8&full_attention_every=5", "expected at most --layers (4)"},
           {"window=8&full_attention_every=1", "--full-attention-every: found '1'"},
           {"active_experts=2", "--active-experts: has no effect without --experts"},
           {"experts=8", "--active-experts: --experts needs it"},
           {"experts=8&active_experts=9&expert_intermediate_size=4", "at most --experts (8)"},
           {"experts=8&active_experts=2", "--expert-intermediate-size: --experts needs it"},
           {"experts=8&active_experts=2&expert_intermediate_size=4&dense_layers=1",
            "--intermediate-size: --dense-layers needs it"},
           {"experts=8&active_experts=2&expert_intermediate_size=4&dense_layers=4&"
            "intermediate_size=4",
            "--dense-layers: found 4, expected less than --layers (4)"},
           {"experts=8&active_experts=2&expert_intermediate_size=4&intermediate_size=4",
            "--intermediate-size: has no effect"},
           {"hidden=3", "unknown key of a custom model 'hidden'; nearest: hidden_size"},
           {"n_head=4", "is given twice"}})
    EXPECT_TRUE(has(complaint_of(base + keys), expected)) << complaint_of(base + keys);
  EXPECT_TRUE(has(complaint_of("hidden_size=1073741824&layers=9&heads=1073741824&head_dim=64"),
                  "exceeds 2^63 - 1"));
}

TEST(CustomToml, KeysInTheTableOrAtTheTop) {
  EXPECT_EQ(toml("model_embd = 384\nmodel_layer = 6\nbatch_size = 24\nlearning_rate = 3e-4\n")
                .profile.parameters,
            30'117'120);
  const auto m = toml(
      "[model]\nname = \"mine\"\nhidden_size = 64\nlayers = 2\nbiases = [\"qkv\", \"mlp\"]\n"
      "tied_head = false\n[training]\nbatch_size = 24\nanything = 1\n");
  EXPECT_EQ(m.name, "mine");
  EXPECT_EQ(m.source, "my.toml");
  EXPECT_EQ(m.profile.parameters,
            custom("hidden_size=64&layers=2&biases=qkv,mlp&tied_head=false").profile.parameters);
}

TEST(CustomToml, OverridesReplaceKeys) {
  const auto m = model_from_toml("hidden_size = 64\nlayers = 2\n", "my.toml",
                                 {"my.toml", {{"layers", "3"}, {"kv_heads", "1"}}});
  EXPECT_EQ(m.name, "my?layers=3&kv_heads=1");
  EXPECT_EQ(m.profile.parameters, custom("hidden_size=64&layers=3&kv_heads=1").profile.parameters);
}

TEST(CustomToml, ErrorsNameFileLineAndKey) {
  EXPECT_TRUE(has(toml_complaint("layers = 2\n"), "my.toml: a custom model needs"));
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"hidden_size = 64\nlayrs = 2\n", "my.toml:2: unknown key 'layrs'; nearest: layers"},
           {"hidden_size = 64\nbatch_sise = 2\n", "my.toml:2: unknown key 'batch_sise'"},
           {"[model]\nhidden_size = 64\nbatch_size = 2\n",
            "my.toml:3: key 'batch_size' describes no model: it belongs to [training]"},
           {"[modle]\nlayers = 2\n", "my.toml:1: unknown key 'modle'; nearest: model"},
           {"hidden_size = \"x\"\nlayers = 2\n", "my.toml:1: key 'hidden_size': found 'x'"},
           {"hidden_size = 64\nn_embd = 64\nlayers = 2\n",
            "my.toml:2: key 'n_embd' says the same as my.toml:1: key 'hidden_size'"},
           {"hidden_size = 64\nlayers = 2\nheads = 3\n",
            "my.toml:3: key 'heads': found 3, expected a divisor of my.toml:1: key 'hidden_size'"},
           {"hidden_size = 64\nlayers = 1979-05-27\n", "my.toml:2: key 'layers': expected"},
           {"hidden_size = \n", "my.toml:1: not TOML"}})
    EXPECT_TRUE(has(toml_complaint(text), expected)) << toml_complaint(text);
}

}  // namespace
}  // namespace headroom::sweep
