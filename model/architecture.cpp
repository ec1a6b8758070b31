// The table of architectures, and the way from a config to its row.
#include "model/architecture.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "hardware/names.hpp"
#include "model/architectures/families.hpp"

namespace headroom::model {

namespace {

using namespace families;

// One block of rows per file of model/architectures/, in the order of the files.
constexpr Architecture rows[] = {
    // dbrx.cpp
    {"DbrxForCausalLM", "dbrx", dbrx},
    // deepseek.cpp
    {"DeepseekV2ForCausalLM", "deepseek_v2", deepseek_v2},
    {"DeepseekV3ForCausalLM", "deepseek_v3", deepseek_v3},
    {"DeepseekV3ForCausalLM", "kimi_k2", deepseek_v3},
    {"DeepseekV32ForCausalLM", "deepseek_v32", deepseek_v32},
    // glm_moe.cpp
    {"Glm4MoeForCausalLM", "glm4_moe", glm4_moe},
    {"Glm4MoeLiteForCausalLM", "glm4_moe_lite", glm4_moe_lite},
    {"GlmMoeDsaForCausalLM", "glm_moe_dsa", glm_moe_dsa},
    // gpt_oss.cpp
    {"GptOssForCausalLM", "gpt_oss", gpt_oss},
    // jamba.cpp
    {"JambaForCausalLM", "jamba", jamba},
    // llama.cpp
    {"LlamaForCausalLM", "llama", llama},
    // mamba.cpp
    {"MambaForCausalLM", "mamba", mamba},
    {"Mamba2ForCausalLM", "mamba2", mamba2},
    // minimax_m2.cpp
    {"MiniMaxM2ForCausalLM", "minimax_m2", minimax_m2},
    // mixtral.cpp
    {"MixtralForCausalLM", "mixtral", mixtral},
    // nemotron_h.cpp
    {"NemotronHForCausalLM", "nemotron_h", nemotron_h},
    // olmoe.cpp
    {"OlmoeForCausalLM", "olmoe", olmoe},
    // phimoe.cpp
    {"PhimoeForCausalLM", "phimoe", phimoe},
    // qwen3_next.cpp
    {"Qwen3NextForCausalLM", "qwen3_next", qwen3_next},
    {"Qwen3_5ForCausalLM", "qwen3_5_text", qwen3_5},
    {"Qwen3_5MoeForCausalLM", "qwen3_5_moe_text", qwen3_5_moe},
    // qwen_moe.cpp
    {"Qwen2MoeForCausalLM", "qwen2_moe", qwen2_moe},
    {"Qwen3MoeForCausalLM", "qwen3_moe", qwen3_moe},
    // rwkv.cpp
    {"RwkvForCausalLM", "rwkv", rwkv},
};

/// The row for a class name; of several, the one with the config's model_type.
const Architecture* find(std::string_view name, std::string_view model_type) {
  const Architecture* found = nullptr;
  for (const auto& row : rows)
    if (row.name == name && (!found || row.model_type == model_type)) found = &row;
  return found;
}

[[noreturn]] void fail_unknown(const Config& config, std::string_view key, std::string_view name) {
  std::set<std::string> known;
  for (const auto& row : rows) known.emplace(key == "model_type" ? row.model_type : row.name);
  const std::vector<std::string> names(known.begin(), known.end());
  config.fail(key, fmt::format("'{}' is not described; nearest: {}", name,
                               fmt::join(nearest(name, names), ", ")));
}

const Architecture& row_of(const Config& config) {
  const std::string type = config.text({"model_type"}, "");
  if (config.has("architectures")) {
    const std::string name = config.architecture();
    if (const auto* row = find(name, type)) return *row;
    fail_unknown(config, "architectures", name);
  }
  if (type.empty())
    config.fail("architectures", "is missing, and so is 'model_type': one of them is needed");
  std::vector<const Architecture*> candidates;
  for (const auto& row : rows)
    if (row.model_type == type) candidates.push_back(&row);
  if (candidates.empty()) fail_unknown(config, "model_type", type);
  if (candidates.size() > 1) {
    std::vector<std::string_view> names;
    for (const auto* row : candidates) names.push_back(row->name);
    config.fail("architectures", fmt::format("is missing, and model_type '{}' may be any of {}",
                                             type, fmt::join(names, ", ")));
  }
  return *candidates.front();
}

/// Every formula may add up all elements in int64 and multiply by 16 bytes.
void check_size(const Part& part) {
  constexpr Size most = Size{1} << 58;
  Size total = 0;
  for (const auto& t : part.tensors) {
    const Size elements = times(t.shape);
    if (elements > most || (total += elements) > most)
      throw std::overflow_error(t.name + ": more than 2^58 elements");
  }
}

}  // namespace

std::span<const Architecture> architectures() { return rows; }

Part describe(const Config& config) {
  const Architecture& row = row_of(config);
  try {
    Part part{.modules = {{"", std::string(row.name)}}};
    part = std::move(part) + row.describe(config);
    check_size(part);
    return part;
  } catch (const std::length_error& e) {
    throw ConfigError(config.origin() + ": " + e.what());
  } catch (const std::overflow_error& e) {
    throw ConfigError(config.origin() + ": " + e.what());
  }
}

}  // namespace headroom::model
