#include "model/checkpoint/quantisation/gguf_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/gguf/name_rows.hpp"
#include "model/checkpoint/quantisation/gguf_model_types.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

/// Classes whose fused matrix becomes attn_q, attn_k and attn_v. Source: llama.cpp
/// conversion/baichuan.py, bailingmoe.py (BailingMoeModel), internlm.py (modify_tensors).
constexpr auto split_classes =
    std::to_array<std::string_view>({"BaiChuanForCausalLM", "BaichuanForCausalLM",
                                     "BailingMoeForCausalLM", "InternLM2ForCausalLM"});

/// Architectures whose converter lists key-value heads layer by layer, 0 where a layer has no
/// attention. Source: llama.cpp conversion/{bailingmoe3,glm,granite,jamba,kimi_k3,kimi_linear,lfm2,
/// nemotron,plamo}.py; BambaForCausalLM becomes granitehybrid.
constexpr auto lists_heads = std::to_array<std::string_view>(
    {"bailingmoe3", "glm5-next", "granitehybrid", "jamba", "kimi-k3", "kimi-linear", "lfm2",
     "lfm2moe", "nemotron_h", "nemotron_h_moe", "plamo2"});

struct KeptTensor {
  std::string_view name;            ///< start of its name in llama.cpp
  std::string_view format;          ///< the converter's, or the only one that it is quantised to
  std::string_view architecture{};  ///< llama.cpp's; empty: all that no row names
};
/// Source: llama.cpp src/llama-quant.cpp tensor_allows_quantization, tensor_type_fallback and
/// llama_tensor_get_type_impl; formats by conversion/base.py prepare_tensors and by
/// tensor_force_quant of minimax.py and glm.py.
constexpr KeptTensor kept_tensors[] = {
    {"hc_", "fp32", "glm5-next"},
    {"indexer.attn_q_b", "fp16", "glm5-next"},
    {"indexer.attn_k", "fp16", "glm5-next"},
    {"indexer.proj", "fp32", "glm5-next"},
    {"indexer_compressor_", "fp32", "glm5-next"},
    {"ssm_f_a", "fp16", "glm5-next"},
    {"ssm_f_b", "fp16", "glm5-next"},
    {"ssm_g_a", "fp16", "glm5-next"},
    {"ssm_g_b", "fp16", "glm5-next"},
    {"ssm_beta", "fp16", "glm5-next"},
    {"attn_kv_a_mqa", "fp16", "glm5-next"},
    {"attn_k_b", "fp16", "glm5-next"},  // with attn_v_b, the other half of kv_b_proj
    {"attn_q_a", "q8_0", "glm5-next"},
    {"attn_q_b", "q8_0", "glm5-next"},
    {"indexer.q_proj", "fp16", "qwen4exp"},
    {"indexer.k_proj", "fp16", "qwen4exp"},
    {"ple_conv1d", "fp16", "qwen4exp"},  // its rows are shorter than a block
    {"ffn_gate_inp", "fp32"},
    {"indexer.q_proj", "fp32"},
    {"indexer.k_proj", "fp32"},
    {"attn_rel_b", "fp16"},
    {"position_embd", "fp32"},
    {"token_types", "fp32"},
    {"shortconv.conv", "fp32"},
    {"ssm_conv1d", "fp32"},
};

/// Model types and layers that ik_llama.cpp labels "8B", the type in llama.cpp's words: llama,
/// qwen3, cohere2, mistral3. Source: its src/llama-hparams.cpp. Qwen3-4B has 36 layers too.
constexpr std::pair<std::string_view, Size> eight_b[] = {
    {"llama", 32}, {"mistral", 32}, {"llama", 36},    {"granite", 36},
    {"qwen3", 36}, {"cohere2", 32}, {"qwen3_vl", 36}, {"ministral3", 34}};

/// Names of the tensor in llama.cpp, the most usual first. Empty if none is known.
std::string_view names_in_llama_cpp(std::string_view tensor) {
  if (tensor.ends_with(".weight")) tensor.remove_suffix(7);
  const GgufModule* row = gguf_block_row(tensor);
  if (row == nullptr) row = gguf_outer_row(tensor);
  return row == nullptr ? "" : row->gguf;
}

}  // namespace

std::string gguf_refusal(const Model& model) {
  const auto lists = [&](const auto& names) {
    return std::ranges::find(names, model.architecture) != names.end() ||
           std::ranges::find(names, model.model_type) != names.end();
  };
  if (lists(gguf_model_types) || lists(gguf_classes)) return "";
  if (lists(gguf_undescribed_classes))
    return fmt::format("llama.cpp converts '{}' ({}), but its tensor types are not described",
                       model.model_type, model.architecture);
  if (!gguf_architecture_of(model).empty()) return "";
  return fmt::format("llama.cpp is not known to convert '{}' ({})", model.model_type,
                     model.architecture);
}

Size heads_in_group(const Model& model) {
  const bool lists =
      model.architecture == "BambaForCausalLM" ||
      std::ranges::find(lists_heads, gguf_architecture_of(model)) != lists_heads.end();
  const Size first = model.profile.first_decoding;
  if (lists && first < std::ssize(model.profile.layers)) {
    const std::string& path = model.profile.layers[static_cast<std::size_t>(first)].path;
    const bool attends = std::ranges::any_of(model.part.caches, [&](const Cache& cache) {
      return cache.path.starts_with(path + '.') &&
             (cache.kind == CacheKind::self_attention || cache.kind == CacheKind::latent);
    });
    if (!attends) return 0;
  }
  return std::max<Size>(model.shape.query_heads / std::max<Size>(model.shape.kv_heads, 1), 1);
}

bool splits_qkv(const Model& model) {
  const auto splits = [](std::string_view name) {
    return std::ranges::find(split_classes, name) != split_classes.end();
  };
  return splits(model.architecture) ||
         std::ranges::any_of(model.part.modules, splits, &Module::class_name);
}

bool is_of_type(const Model& model, std::string_view type) {
  if (model.model_type == type || model.text_type == type) return true;
  return std::ranges::any_of(gguf_architectures(), [&](const GgufArchitecture& row) {
    return row.model_type == type && std::ranges::any_of(model.part.modules, [&](const Module& m) {
             return !m.path.empty() && m.class_name == row.class_name;
           });
  });
}

std::string_view gguf_architecture_of(const Model& model) {
  for (const GgufArchitecture& row : gguf_architectures())
    if (row.class_name == model.architecture || row.model_type == model.model_type ||
        (!row.section.empty() && row.section == model.model_type))
      return row.name;
  return "";
}

std::string_view kept_format(std::string_view architecture, std::string_view tensor) {
  if (is_per_layer_projection(tensor) || is_router(tensor)) return "fp32";
  const std::string_view name = names_in_llama_cpp(tensor);
  for (const KeptTensor& row : kept_tensors)
    if (name.starts_with(row.name) &&
        (row.architecture.empty() || row.architecture == architecture))
      return row.format;
  return "";
}

TensorClass class_in_llama_cpp(std::string_view tensor) {
  using enum TensorClass;
  constexpr std::pair<std::string_view, TensorClass> whole[] = {{"attn_qkv", attention_qkv},
                                                                {"attn_v", attention_v},
                                                                {"attn_k", attention_k},
                                                                {"attn_q", attention_q},
                                                                {"attn_output", attention_output}};
  constexpr std::pair<std::string_view, TensorClass> parts[] = {{"ffn_up", feed_forward_up},
                                                                {"ffn_gate", feed_forward_gate},
                                                                {"ffn_down", feed_forward_down}};
  const std::string_view names = names_in_llama_cpp(tensor);
  const std::string_view first = names.substr(0, names.find('|'));
  for (const auto& [name, c] : whole)
    if (first == name) return c;
  for (const auto& [name, c] : parts)
    if (first.find(name) != first.npos) return c;
  return tensor_class(tensor);
}

void ask_of_ik(std::string_view tensor, MixQuestion& question) {
  const std::string_view name = names_in_llama_cpp(tensor);
  if (question.tensor_class == TensorClass::other && name.starts_with("attn_k"))
    question.tensor_class = TensorClass::attention_k;
  if (question.tensor_class == TensorClass::other && name.starts_with("attn_q"))
    question.tensor_class = TensorClass::attention_q;
  question.shared_expert = name.find("_shexp") != name.npos;
}

bool is_eight_b(const Model& model, Size layers) {
  return std::ranges::any_of(eight_b,
                             [&](const auto& row) {
                               return row.second == layers && is_of_type(model, row.first);
                             }) &&
         model.shape.hidden_size != 2560;
}

Size rope_factors(const Config& config, Size head_dim) {
  for (const Config& c : {config, config.section_or_empty("text_config")}) {
    for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
      const boost::json::value* value = c.object().if_contains(key);
      if (value == nullptr || !value->is_object()) continue;
      const boost::json::object& scaling = value->get_object();
      const auto is = [&](std::string_view type) {
        for (const std::string_view name : {"rope_type", "type"})
          if (const auto* found = scaling.if_contains(name))
            if (found->is_string() && std::string_view(found->get_string()) == type) return true;
        return false;
      };
      if (is("llama3")) return head_dim / 2;
      Size factors = 0;
      if (is("longrope"))
        for (const std::string_view name : {"long_factor", "short_factor"})
          if (const auto* list = scaling.if_contains(name); list != nullptr && list->is_array())
            factors += static_cast<Size>(list->get_array().size());
      if (factors > 0) return factors;
    }
  }
  return 0;
}

}  // namespace headroom::model
