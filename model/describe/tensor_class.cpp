#include "model/describe/tensor_class.hpp"

#include <algorithm>
#include <initializer_list>

namespace headroom::model {
namespace {

bool is_one_of(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view last_module(std::string_view module) {
  return module.substr(module.rfind('.') + 1);
}

}  // namespace

TensorClass tensor_class(std::string_view name) {
  const auto cut = name.ends_with(".weight") ? name.substr(0, name.size() - 7) : name;
  const auto dot = cut.rfind('.');
  const std::string_view word = cut.substr(dot + 1);
  const std::string_view above = dot == std::string_view::npos ? "" : cut.substr(0, dot);
  const auto is_below = [&](std::string_view part) {
    return above.find(part) != std::string_view::npos;
  };
  if (is_one_of({"q_proj", "query", "wq", "q", "q_lin"}, word)) return TensorClass::attention_q;
  if (is_one_of({"k_proj", "key", "wk", "k", "k_lin"}, word)) return TensorClass::attention_k;
  // The fused projection of the gated delta rule is attn_qkv, of attention_v's class by its time.
  if (is_one_of({"v_proj", "value", "wv", "v", "v_lin", "in_proj_qkv", "in_proj_qkvz"}, word))
    return TensorClass::attention_v;
  if (is_one_of({"qkv_proj", "query_key_value", "Wqkv", "c_attn", "qkv", "W_pack", "wqkv"}, word))
    return TensorClass::attention_qkv;
  // Qwen's first models have w1, w2 and c_proj.
  const bool is_gate = word == "w2" && above.ends_with(".mlp") && is_below("transformer.h.");
  if (is_gate || is_one_of({"gate_proj", "w1", "wi_0"}, word))
    return TensorClass::feed_forward_gate;
  if (is_one_of({"up_proj", "gate_up_proj", "fc1", "fc_in", "c_fc", "dense_h_to_4h", "w3", "wi",
                 "wi_1", "v1", "Wi", "input_linear"},
                word))
    return TensorClass::feed_forward_up;
  if (is_one_of({"down_proj", "fc2", "fc_out", "dense_4h_to_h", "w2", "output_linear"}, word))
    return TensorClass::feed_forward_down;
  if (word == "Wo")
    return is_below("attn") ? TensorClass::attention_output : TensorClass::feed_forward_down;
  if (word == "c_proj")
    return is_below("mlp") ? TensorClass::feed_forward_down : TensorClass::attention_output;
  if (word == "dense" && above.ends_with("intermediate")) return TensorClass::feed_forward_up;
  if (word == "dense" && above.ends_with("output") && !is_below("attention"))
    return TensorClass::feed_forward_down;
  if (is_one_of({"o_proj", "linear_attn"}, word) ||
      (is_one_of({"out_proj", "out_lin", "dense", "wo"}, word) && is_below("att")))
    return TensorClass::attention_output;
  if (above.ends_with("experts")) {
    if (word == "gate") return TensorClass::feed_forward_gate;
    if (word == "up") return TensorClass::feed_forward_up;
    if (word == "down") return TensorClass::feed_forward_down;
  }
  if (word == "lin1" && above.ends_with("ffn")) return TensorClass::feed_forward_up;
  if ((word == "lin2" && above.ends_with("ffn")) || word == "wo")
    return TensorClass::feed_forward_down;
  return TensorClass::other;
}

bool is_replicated(std::string_view module) {
  return is_one_of({"q_a_proj", "kv_a_proj", "kv_a_proj_with_mqa"}, last_module(module)) ||
         module.find(".indexer.") != std::string_view::npos;
}

bool expands_latent(std::string_view module) { return last_module(module) == "kv_b_proj"; }

bool is_linear_attention(std::string_view module) {
  return is_one_of({"in_proj_qkv", "in_proj_qkvz"}, last_module(module));
}

bool is_of_shared_expert(std::string_view module) {
  return module.find(".shared_expert.") != std::string_view::npos ||
         module.find(".shared_experts.") != std::string_view::npos ||
         module.find(".shared_mlp.") != std::string_view::npos;
}

bool is_gate_and_up(std::string_view module) { return module.ends_with("gate_up_proj"); }

bool is_fused_by_engines(std::string_view module) {
  return module.ends_with("q_proj") || module.ends_with("k_proj") || module.ends_with("v_proj");
}

std::string fused_name(std::string_view tensor) {
  const auto leaf = std::min(tensor.rfind('.'), tensor.size());
  const std::string_view module = tensor.substr(0, leaf == tensor.size() ? 0 : leaf);
  const auto dot = module.rfind('.');
  const std::string_view last = last_module(module);
  const std::string scope(module.substr(0, dot == module.npos ? 0 : dot));
  const std::string what(tensor.substr(leaf == tensor.size() ? 0 : leaf));
  if (is_one_of({"q_proj", "k_proj", "v_proj"}, last)) return scope + ".qkv" + what;
  if (is_one_of({"gate_proj", "up_proj"}, last)) return scope + ".gate_up" + what;
  return std::string(tensor);
}

bool is_output_head(std::string_view tensor) { return tensor.ends_with("lm_head.weight"); }

bool is_router(std::string_view tensor) { return tensor.find(".router.") != tensor.npos; }

bool is_per_layer_projection(std::string_view tensor) {
  return tensor.ends_with("per_layer_model_projection.weight");
}

}  // namespace headroom::model
