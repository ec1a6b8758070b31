// Types that llama-quantize gives to each tensor, against those that the program describes.
//
// The headers are those of gguf_architectures_test.cpp and gguf_test.cpp: tensors that llama.cpp's
// loader wants or its converter writes. llama-quantize decides by their names, and the program by
// classes of its own description. Both must give every format as many elements. Tensors of 16 and
// 32 bit are left out, because converters make some of them up or leave them out. The loader wants
// ple_norm_* as matrices and reads the vectors that the converter writes.
//
// Source: llama.cpp src/llama-quant.cpp (tensor_allows_quantization, tensor_get_category,
// layer_info), from the source distribution of llama-cpp-python 0.3.36.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "archive.hpp"
#include "hardware/precision.hpp"
#include "model/checkpoint/gguf/config.hpp"
#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/describe/architecture.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::oracle {
namespace {

using enum model::TensorClass;

struct HeaderOfFile {
  std::string name;
  model::GgufHeader header;
  std::optional<model::Config> config;  ///< the converted checkpoint has it
};

std::vector<HeaderOfFile> headers_of_both_archives() {
  std::vector<HeaderOfFile> all;
  for (const std::string name : {"gguf_loaded", "gguf"}) {
    const Files archive = read_files(name);
    for (const auto& [file, bytes] : archive) {
      if (!file.ends_with(".gguf")) continue;
      auto header = model::parse_gguf(bytes, -1, file);
      EXPECT_TRUE(header) << file;
      if (!header) continue;
      const std::string stem = file.substr(0, file.size() - 5);
      HeaderOfFile one{stem, std::move(*header), {}};
      if (const auto json = archive.find(stem + ".json"); json != archive.end())
        one.config.emplace(boost::json::parse(json->second).as_object().at("config").as_object(),
                           file);
      all.push_back(std::move(one));
    }
  }
  return all;
}

bool has_word(const std::string& name, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](auto word) { return name.find(word) != name.npos; });
}

/// GLM-5-Next's own exceptions (tensor_allows_quantization, llama_tensor_get_type_impl).
bool is_kept_in_glm5_next(const std::string& name) {
  return has_word(name, {"hc_", "indexer.attn_q_b", "indexer.attn_k", "indexer.proj",
                         "indexer_compressor_gate", "indexer_compressor_ape", "ssm_f_a.weight",
                         "ssm_f_b.weight", "ssm_g_a.weight", "ssm_g_b.weight", "ssm_beta.weight",
                         "attn_kv_a_mqa.weight", "attn_k_b.weight", "attn_v_b.weight"});
}
bool is_q8_in_glm5_next(const std::string& name) {
  return has_word(name, {"attn_q_a", "attn_q_b", "nextn.eh_proj"});
}

bool is_quantised(const model::TensorHeader& t) {
  std::size_t dimensions = t.shape.size();
  for (std::size_t i = 0; i < t.shape.size() && t.shape[i] == 1; ++i) --dimensions;
  return dimensions > 1 && t.name.ends_with("weight") && t.name != "position_embd.weight" &&
         t.name != "token_types.weight" &&
         !has_word(t.name,
                   {"_norm.weight", "ffn_gate_inp.weight", "ffn_gate_tid2eid.weight", "ssm_conv1d",
                    "shortconv.conv.weight", "indexer.k_proj.weight", "indexer.q_proj.weight",
                    "attn_rel_b.weight", "ple_norm_", "altup", "laurel", "per_layer_model_proj"});
}

/// Fused queries, keys and values are a class of their own, as mix.hpp says.
model::TensorClass category(const std::string& name) {
  if (name == "output.weight") return output;
  if (name == "token_embd.weight" || name == "per_layer_token_embd.weight") return token_embedding;
  constexpr std::pair<std::string_view, model::TensorClass> rows[] = {
      {"attn_qkv.weight", attention_qkv},       {"attn_v.weight", attention_v},
      {"attn_k.weight", attention_k},           {"attn_q.weight", attention_q},
      {"attn_output.weight", attention_output}, {"ffn_up", feed_forward_up},
      {"ffn_gate", feed_forward_gate},          {"ffn_down", feed_forward_down}};
  for (const auto& [word, c] : rows)
    if (name.find(word) != name.npos) return c;
  return other;
}

using Elements = std::map<std::string, Size>;

/// The first value of a list, or the value.
Size of_first_layer(const model::GgufKeys& keys, std::string_view key, Size fallback) {
  const auto all = keys.by_layer(key);
  return all.empty() ? fallback : all.front();
}

/// Elements by format that llama-quantize makes of the header's tensors.
Elements made_by_llama_quantize(const HeaderOfFile& file, const std::string& mix) {
  const model::GgufKeys keys(file.header, file.header.list);
  model::MixQuestion q;
  q.experts = keys.number("expert_count", 0);
  const Size heads = of_first_layer(keys, "attention.head_count", 1);
  const Size kv = of_first_layer(keys, "attention.head_count_kv", heads);
  q.gqa = kv > 0 ? heads / kv : 0;  // llama_hparams::n_gqa of the first layer
  q.tied = !keys.has_tensor("output.weight");
  q.falcon = keys.architecture() == "falcon";
  const auto values = std::ranges::count_if(file.header.list.tensors, [](const auto& t) {
    const auto c = category(t.name);
    return c == attention_v || c == attention_qkv;
  });
  std::map<model::TensorClass, Size> running;
  Elements elements;
  const bool glm5_next = keys.architecture() == "glm5-next";
  for (const model::TensorHeader& t : file.header.list.tensors) {
    if (!is_quantised(t) || (glm5_next && is_kept_in_glm5_next(t.name))) continue;
    if (glm5_next && is_q8_in_glm5_next(t.name)) {
      elements["q8_0"] += t.elements();
      continue;
    }
    q.tensor_class = category(t.name);
    q.row = t.shape.back();
    q.stacked_experts = t.shape.size() > 2;
    q.of = q.tensor_class == attention_v ? values : keys.layers() + keys.predictors();
    int layer = 0;
    const bool by_layer = q.experts > 1 && q.tensor_class != attention_v;
    if (by_layer) std::ignore = std::sscanf(t.name.c_str(), "blk.%d.", &layer);
    q.index = by_layer ? layer : running[q.tensor_class]++;
    elements[std::string(mixed_format(mix, q))] += t.elements();
  }
  elements.erase("fp16");
  return elements;
}

Elements described(const model::Model& model, const std::string& mix) {
  const auto stored = model::quantised_gguf(model, model::scheme(mix));
  Elements elements;
  for (const model::Tensor* tensor : model::language_tensors(model)) {
    const auto& one = stored[static_cast<std::size_t>(tensor - model.part.tensors.data())];
    if (one.format != nullptr) elements[std::string(one.format->name)] += tensor->elements();
  }
  for (const char* wide : {"fp32", "fp16"}) elements.erase(wide);
  return elements;
}

/// Files whose mixes are not compared, and why.
std::string why_only_q8(const HeaderOfFile& file) {
  const model::GgufKeys keys(file.header, file.header.list);
  if (keys.some_layer_has("attn_k_b.weight") && keys.architecture() != "glm5-next")
    return "rows of attn_k_b are those of one head";
  if (keys.some_layer_has("attn_kv_b.weight")) return "attn_kv_b was no class before 2026";
  const bool fused = keys.some_layer_has("attn_qkv.weight");
  if (fused && keys.some_layer_has("ssm_norm.weight"))
    return "fused matrices of the delta rule follow the rule of 2026";
  const std::set<std::string> other_class = {"bailingmoe2-moe", "phi3-dense", "qwen-dense",
                                             "spark2_5-dense"};
  if (other_class.contains(file.name)) return "its class in the program is fused differently";
  return "";
}

/// Architectures whose tensor types are not described (gguf_undescribed_classes), and drafts.
/// DeepSeek-V4's and Hy-V4's small matrices of connections are fp32 in the program.
bool is_left_out(const std::string& name) {
  return has_word(name, {"arwkv7", "cogvlm", "deepseek4", "dflash", "gemma3n", "gemma4_assistant",
                         "hrm_text", "hy_v4", "janus", "nomic_moe", "rwkv"});
}

TEST(GgufRecipes, GiveEachFormatTheElementsOfLlamaQuantize) {
  int compared = 0, mixes = 0;
  for (const HeaderOfFile& file : headers_of_both_archives()) {
    if (is_left_out(file.name)) continue;
    SCOPED_TRACE(file.name);
    model::Model model;
    try {
      model = model::make_model(
          file.name, file.config ? *file.config : gguf_config(file.header, file.header.list), "");
    } catch (const model::NotDescribed&) {
      continue;
    }
    // The converter ran on the reference, which ties some heads against the config.
    if (file.config) model.part = as_reference(std::move(model.part));
    ++compared;
    for (const std::string mix : {"q8_0", "q4_K_M", "q2_K", "q3_K_L"}) {
      if (mix != "q8_0" && !why_only_q8(file).empty()) continue;
      EXPECT_EQ(described(model, mix), made_by_llama_quantize(file, mix)) << mix;
      ++mixes;
    }
  }
  std::printf("%d headers, %d recipes\n", compared, mixes);
  EXPECT_GE(compared, 225);
  EXPECT_GE(mixes, 815);
}

/// The converter's Qwen3OmniMoeTextModel and Qwen3OmniMmprojModel (conversion/qwen3vl.py) read the
/// thinker alone.
TEST(GgufRecipes, LeaveOutTheModelThatSpeaks) {
  const model::Model& m = test::catalogue_model("Qwen/Qwen3-Omni-30B-A3B-Instruct");
  const auto stored = model::quantised_gguf(m, model::scheme("q4_K_M"));
  Size parameters = 0, tower_bytes = 0;
  for (const model::Tensor* tensor : model::language_tensors(m)) {
    EXPECT_TRUE(tensor->name.starts_with("thinker.")) << tensor->name;
    parameters += tensor->is_parameter() ? tensor->elements() : 0;
  }
  // Those of Qwen3-30B-A3B, and 128 more tokens.
  EXPECT_EQ(parameters, 30'532'122'624 + 2 * 128 * 2048);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string& name = m.part.tensors[i].name;
    if (!name.starts_with("thinker.")) {
      EXPECT_EQ(stored[i].bytes, Bytes(0)) << name;
    } else if (name.find("_tower.") != name.npos || name.find(".visual.") != name.npos) {
      tower_bytes += stored[i].bytes.count();
    }
  }
  EXPECT_GT(tower_bytes, 2'000'000'000);
}

}  // namespace
}  // namespace headroom::oracle
