#include "model/describe/architectures/conformer.hpp"

namespace headroom::model::families {

namespace {

Part self_attention(const Conformer& s) {
  Part p = s.first_positions;
  for (const auto name : {"linear_q", "linear_k", "linear_v", "linear_out"})
    p = std::move(p) + linear(name, s.hidden, s.hidden, Bias::yes);
  return in("self_attn", s.k + "SelfAttention", std::move(p) + dropout() + s.last_positions);
}

}  // namespace

Part conformer_feed_forward(const Conformer& s, std::string_view name, const std::string& act) {
  return in(name, s.k + "FeedForward",
            dropout("intermediate_dropout") +
                linear("intermediate_dense", s.hidden, s.inner, Bias::yes) +
                module("intermediate_act_fn", act) +
                linear("output_dense", s.inner, s.hidden, Bias::yes) + dropout("output_dropout"));
}

Part conformer_layer(const Conformer& s) {
  return layer_norm("ffn1_layer_norm", s.hidden) + conformer_feed_forward(s, "ffn1", s.act) +
         layer_norm("self_attn_layer_norm", s.hidden) + dropout("self_attn_dropout") +
         self_attention(s) +
         in("conv_module", s.k + "ConvolutionModule",
            layer_norm("layer_norm", s.hidden) +
                convolution("pointwise_conv1", "Conv1d", {2 * s.hidden, s.hidden, 1}) +
                module("glu", "GLU") +
                convolution("depthwise_conv", "Conv1d", {s.hidden, 1, s.kernel}) + s.conv_norm +
                module("activation", s.act) +
                convolution("pointwise_conv2", "Conv1d", {s.hidden, s.hidden, 1}) + dropout()) +
         layer_norm("ffn2_layer_norm", s.hidden) + conformer_feed_forward(s, "ffn2", s.act) +
         layer_norm("final_layer_norm", s.hidden);
}

Part conformer_adapter_layer(Conformer s, Size kernel, const std::string& act) {
  s.first_positions = s.last_positions = {};
  const auto strided = [&](std::string_view name) {
    return convolution(name, "Conv1d", {2 * s.hidden, s.hidden, kernel}, Bias::yes);
  };
  return layer_norm("residual_layer_norm", s.hidden) + strided("residual_conv") +
         module("activation", "GLU") + layer_norm("self_attn_layer_norm", s.hidden) +
         strided("self_attn_conv") + self_attention(s) + dropout("self_attn_dropout") +
         layer_norm("ffn_layer_norm", s.hidden) + conformer_feed_forward(s, "ffn", act);
}

}  // namespace headroom::model::families
