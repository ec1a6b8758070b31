#include "model/describe/layers/known_names.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::model::layers {
namespace {

// nn.functional.gelu and silu keep their input; what is written out in Python keeps every step.
struct ActivationRow {
  std::string_view class_name;
  ActivationKind kind;
};
constexpr ActivationRow kept_by[] = {
    {"ReLU", ActivationKind::result},
    {"ReLU6", ActivationKind::result},
    {"Sigmoid", ActivationKind::result},
    {"Tanh", ActivationKind::result},
    {"ReLUSquaredActivation", ActivationKind::squared_relu},
    {"NewGELUActivation", ActivationKind::tanh_written_out},
    {"FastGELUActivation", ActivationKind::tanh_written_out},
    {"QuickGELUActivation", ActivationKind::sigmoid_product},
    {"XIELUActivation", ActivationKind::xielu},
    {"SituActivation", ActivationKind::situ},
};

// Last names of modules with a weight, and of tensors other than weight and bias.
constexpr std::string_view understood_names[] = {
    // matrices of attention
    "q_proj", "k_proj", "v_proj", "o_proj", "out_proj", "qkv_proj", "query_key_value", "c_attn",
    "c_proj", "Wqkv", "Wo", "qkv", "proj", "query", "key", "value", "dense", "out_lin", "q_lin",
    "k_lin", "v_lin", "q", "k", "v", "o", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj",
    "projection_layer", "per_layer_input_gate", "per_layer_projection", "relative_attention_bias",
    "wqkv", "W_pack", "g_proj", "query_proj", "key_proj", "value_proj", "pos_key_proj",
    "pos_query_proj",
    // norms
    "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
    "post_feedforward_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm",
    "pre_mlp_layernorm", "q_norm", "k_norm", "q_layernorm", "k_layernorm", "query_layernorm",
    "key_layernorm", "q_a_layernorm", "kv_a_layernorm", "attn_sub_norm", "ffn_sub_norm", "ln_1",
    "ln_2", "ln_attn", "ln_mlp", "norm_1", "norm_2", "norm1", "norm2", "layer_norm1", "layer_norm2",
    "layernorm_before", "layernorm_after", "attn_norm", "mlp_norm", "attention_norm", "ffn_norm",
    "attention_layernorm", "feedforward_layernorm", "self_attn_layer_norm", "final_layer_norm",
    "encoder_attn_layer_norm", "layer_norm", "LayerNorm", "sa_layer_norm", "output_layer_norm",
    "operator_norm", "pre_ff_layernorm", "norm", "full_layer_layer_norm",
    "post_per_layer_input_norm", "pre_feedforward_layernorm_2", "post_feedforward_layernorm_1",
    "post_feedforward_layernorm_2", "residual_layernorm", "pre_attn_norm", "post_attn_norm",
    "pre_moe_norm", "post_moe_norm", "self_attention_res_norm", "mlp_res_norm",
    "routed_expert_norm",
    // feed-forward
    "gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2", "c_fc", "dense_h_to_4h",
    "dense_4h_to_h", "fc_in", "fc_out", "wi", "wi_0", "wi_1", "wo", "w1", "w2", "w3", "Wi", "lin1",
    "lin2", "ffn", "ffn_output", "linear_fc1", "linear_fc2", "input_linear", "output_linear",
    "c_fc_0", "c_fc_1", "fc1_latent_proj", "fc2_latent_proj", "linear_mlp", "linear_attn",
    "self_attention_res_proj", "mlp_res_proj",
    // experts, as tensors where they are stacked
    "classifier", "primary_router", "up", "down", "routed_expert_down_proj",
    "routed_expert_up_proj", "gate", "router", "wg", "shared_expert_gate", "gate_up_proj_bias",
    "down_proj_bias", "e_score_correction_bias", "expert_bias", "per_expert_scale", "layer", "v1",
    // tensors that accompany matrices
    "sinks", "attention_sink_bias", "lambda_1", "lambda_2", "alpha_p", "alpha_n"};

constexpr std::string_view mixer_names[] = {"in_proj",
                                            "x_proj",
                                            "dt_proj",
                                            "out_proj",
                                            "conv1d",
                                            "conv",
                                            "A_log",
                                            "D",
                                            "dt_bias",
                                            "norm",
                                            "in_proj_qkvz",
                                            "in_proj_ba",
                                            "in_proj_qkv",
                                            "in_proj_z",
                                            "in_proj_b",
                                            "in_proj_a",
                                            "dt_layernorm",
                                            "b_layernorm",
                                            "c_layernorm",
                                            "f_a_proj",
                                            "f_b_proj",
                                            "b_proj",
                                            "g_a_proj",
                                            "g_b_proj",
                                            "o_norm",
                                            "output_gate",
                                            "q_conv1d",
                                            "k_conv1d",
                                            "v_conv1d",
                                            "f_proj",
                                            "receptance",
                                            "output",
                                            "time_decay",
                                            "time_first",
                                            "time_mix_key",
                                            "time_mix_value",
                                            "time_mix_receptance",
                                            "pre_ln",
                                            "ln1",
                                            "ln2"};

}  // namespace

ActivationKind activation_kind(std::string_view class_name) {
  for (const ActivationRow& row : kept_by)
    if (row.class_name == class_name) return row.kind;
  return ActivationKind::input;
}

bool is_understood(std::string_view name, bool mixes) {
  // separate norms of each head are numbered (StableLM 2 12B)
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return (!name.empty() && std::ranges::all_of(name, is_digit)) ||
         std::ranges::find(understood_names, name) != std::end(understood_names) ||
         (mixes && std::ranges::find(mixer_names, name) != std::end(mixer_names));
}

}  // namespace headroom::model::layers
