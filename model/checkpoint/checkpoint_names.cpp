#include "model/checkpoint/checkpoint_names.hpp"

#include <algorithm>

namespace headroom::model {
namespace {

struct RenamedModule {
  std::string_view model_type, stored, in_memory;
};
constexpr RenamedModule renamed_modules[] = {
    {"mixtral", ".block_sparse_moe.", ".mlp."},
    {"minimax", ".block_sparse_moe.", ".mlp."},
    {"phimoe", ".block_sparse_moe.", ".mlp."},
    {"minimax_m2", ".block_sparse_moe.", ".mlp."},
    {"minimax_m3_vl", ".block_sparse_moe.", ".mlp."},
    {"minimax_m3_vl", ".self_attn.index_q_proj", ".self_attn.indexer.q_proj"},
    {"minimax_m3_vl", ".self_attn.index_k_proj", ".self_attn.indexer.k_proj"},
};

struct JoinedModule {
  std::string_view joined;
  std::vector<std::string_view> parts;
};

}  // namespace

std::vector<std::string> names_in_memory(std::string_view model_type,
                                         std::vector<std::string> patterns) {
  for (const RenamedModule& row : renamed_modules) {
    if (row.model_type != model_type) continue;
    for (std::string& pattern : patterns)
      if (const auto at = pattern.find(row.stored); at != std::string::npos)
        pattern.replace(at, row.stored.size(), row.in_memory);
  }
  return patterns;
}

std::vector<std::string> parts_of_joined(std::string_view module) {
  static const JoinedModule joined_modules[] = {
      {"gate_up_proj", {"gate_proj", "up_proj"}},
      {"qkv_proj", {"q_proj", "k_proj", "v_proj"}},
  };
  const std::string_view word = module.substr(module.rfind('.') + 1);
  const auto row = std::ranges::find(joined_modules, word, &JoinedModule::joined);
  if (row == std::end(joined_modules)) return {};
  std::vector<std::string> names;
  for (const std::string_view part : row->parts)
    names.push_back(std::string(module.substr(0, module.size() - word.size())).append(part));
  return names;
}

}  // namespace headroom::model
