// ERNIE 4.5 mixtures of experts.
#include "model/describe/architectures/ernie4_5_moe.hpp"

#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::ernie4_5_moe {

/// Source: transformers 5.23, models/ernie4_5_moe. Every moe_layer_interval-th layer from
/// moe_layer_start_index to moe_layer_end_index (-1: the last) is a mixture.
Part ernie4_5_moe(const Config& c) {
  const Classes k{"Ernie4_5_Moe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"use_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r =
      routing_of(c, {"moe_num_experts", "num_experts"}, {"moe_k", "num_experts_per_tok"});
  const Size shared = c.count({"moe_num_shared_experts"}, 2);
  const Part gate =
      in("gate", k("TopKRouter"),
         tensor("weight", {r.experts, hidden}, Role::matmul) +
             in("moe_statics", k("Statics"), score_correction_parameter({1, r.experts})));
  const Part mixture = in(
      "mlp", k("SparseMoeBlock"),
      gate + fused_experts(k("Experts"), hidden, inner, r, act) +
          (shared > 0 ? in("shared_experts", k("MLP"), gated_mlp(hidden, inner * shared, act, bias))
                      : Part{}));
  const Size first = c.count({"moe_layer_start_index"}, 1),
             every = c.dim({"moe_layer_interval"}, 1);
  const double last = c.number({"moe_layer_end_index"}, -1);
  const auto sparse = [&](Size i) {
    return (i + 1) % every == 0 && i >= first && (last == -1 || static_cast<double>(i) <= last);
  };
  const Decoder frame{.family = "Ernie4_5_Moe",
                      .rotated = rotated_if_scaled(c, heads.dim),
                      .norm = rms_norm("norm", k("RMSNorm"), hidden),
                      .tied = Tied::yes,
                      .head_bias = bias};
  return with_quirks(
      decoder(c, frame,
              [&](Size i) {
                return decoder_layer(k, hidden, attention(hidden, heads, bias, bias),
                                     sparse(i) ? mixture : dense_mlp(c, k, bias));
              }),
      {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true, .own_tables = true},
       .router = {.kind = RouterKind::softmax_fp32}});
}

/// Sources: vLLM 0.33 ernie_mtp.py, with the names of the checkpoint; SGLang 0.5.23
/// ernie4_eagle.py.
Part predictor(const Config& c, Size number) {
  const Classes k{"Ernie4_5_Moe"};
  const Size hidden = c.dim({"hidden_size"});
  const Bias bias = c.bias({"use_bias"}, false);
  const std::string here = '.' + std::to_string(number);
  return at("model", rms_norm("mtp_emb_norm" + here, k("RMSNorm"), hidden) +
                         rms_norm("mtp_hidden_norm" + here, k("RMSNorm"), hidden) +
                         linear("mtp_linear_proj" + here, 2 * hidden, hidden, bias) +
                         in("mtp_block" + here, k("DecoderLayer"),
                            decoder_layer(k, hidden, attention(hidden, heads_of(c), bias, bias),
                                          dense_mlp(c, k, bias))));
}

}  // namespace headroom::model::families::ernie4_5_moe
