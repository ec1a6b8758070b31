#include "model/checkpoint/gguf/tensor_names.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/checkpoint/quantisation/mix.hpp"

namespace headroom::model {
namespace {

struct Renamed {
  std::string_view ours, theirs;
};
/// Modules of a layer by the last words of their path.
constexpr std::array renamed{
    Renamed{"input_layernorm", "attn_norm"},
    Renamed{"post_attention_layernorm", "ffn_norm"},
    Renamed{"ln_1", "attn_norm"},
    Renamed{"ln_2", "ffn_norm"},
    Renamed{"self_attn_layer_norm", "attn_norm"},
    Renamed{"final_layer_norm", "ffn_norm"},
    Renamed{"q_a_proj", "attn_q_a"},
    Renamed{"q_b_proj", "attn_q_b"},
    Renamed{"kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    Renamed{"kv_b_proj", "attn_kv_b"},
    Renamed{"q_a_layernorm", "attn_q_a_norm"},
    Renamed{"kv_a_layernorm", "attn_kv_a_norm"},
    Renamed{"q_norm", "attn_q_norm"},
    Renamed{"k_norm", "attn_k_norm"},
    Renamed{"mlp.gate", "ffn_gate_inp"},
    Renamed{"router", "ffn_gate_inp"},
    Renamed{"shared_expert_gate", "ffn_gate_inp_shexp"},
};

std::string_view feed_forward(TensorClass kind) {
  switch (kind) {
    case TensorClass::feed_forward_gate:
      return "ffn_gate";
    case TensorClass::feed_forward_up:
      return "ffn_up";
    case TensorClass::feed_forward_down:
      return "ffn_down";
    default:
      return "";
  }
}

std::string_view attention(TensorClass kind) {
  switch (kind) {
    case TensorClass::attention_q:
      return "attn_q";
    case TensorClass::attention_k:
      return "attn_k";
    case TensorClass::attention_v:
      return "attn_v";
    case TensorClass::attention_qkv:
      return "attn_qkv";
    case TensorClass::attention_output:
      return "attn_output";
    default:
      return "";
  }
}

/// The module within its layer: "mlp.gate" of "model.layers.3.mlp.gate".
std::string block_name(std::string_view rest, const Tensor& tensor, bool expert) {
  const bool shared = rest.find("shared_expert") != std::string_view::npos &&
                      rest.find("shared_expert_gate") == std::string_view::npos;
  for (const auto& [ours, theirs] : renamed)
    if (rest == ours || rest.ends_with(std::string(".") + std::string(ours)))
      return std::string(theirs);
  const TensorClass kind = tensor_class(rest);
  if (const auto name = feed_forward(kind); !name.empty())
    return std::string(name) + (expert ? "_exps" : shared ? "_shexp" : "");
  if (const auto name = attention(kind); !name.empty() && tensor.role != Role::norm)
    return std::string(name);
  return std::string(rest);
}

}  // namespace

GgufNames::GgufNames(const Model& model) : model_(model) {}

std::vector<GgufName> GgufNames::of(const Tensor& tensor) const {
  const auto& layers = model_.profile.layers;
  const auto layer = std::find_if(layers.begin(), layers.end(), [&](const Layer& l) {
    return tensor.name.starts_with(l.path) && tensor.name.size() > l.path.size() &&
           tensor.name[l.path.size()] == '.';
  });
  if (layer == layers.end()) {
    if (tensor.role == Role::embedding) return {{"token_embd.weight"}};
    if (tensor.role == Role::head) return {{"output.weight"}};
    return {{tensor.role == Role::norm ? "output_norm.weight" : tensor.name}};
  }
  const bool expert = tensor.of > 1;
  std::string_view rest = std::string_view(tensor.name).substr(layer->path.size() + 1);
  std::string_view kind = ".weight";
  for (const std::string_view end : {".weight", ".bias", "_bias"})
    if (rest.ends_with(end)) {
      kind = end == ".weight" ? ".weight" : ".bias";
      rest.remove_suffix(end.size());
      break;
    }
  // Decoder layers count from 0. Towers before them are separate files.
  const auto number =
      (layer - layers.begin()) -
      (layer->decodes ? static_cast<std::ptrdiff_t>(model_.profile.first_decoding) : 0);
  const std::string block = (layer->decodes ? "blk." : "v.blk.") + std::to_string(number) + '.';
  const std::string end(kind);
  if (expert && rest.ends_with("gate_up_proj"))
    return {{block + "ffn_gate_exps" + end, 0.5}, {block + "ffn_up_exps" + end, 0.5}};
  return {{block + block_name(rest, tensor, expert) + end}};
}

}  // namespace headroom::model
