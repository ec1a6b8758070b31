// xLSTM (arXiv:2405.04517, arXiv:2503.13427): matrix memories instead of attention.
#include <cmath>

#include "model/describe/blocks/blocks.hpp"
#include "model/describe/config.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::xlstm {

Size rounded_up(double width, Size step) {
  return static_cast<Size>(std::ceil(width / static_cast<double>(step))) * step;
}

/// Source: transformers 5.23, models/xlstm. A head caches a matrix of qk x v, a vector of qk and
/// one number.
Part xlstm(const Config& c) {
  const Size hidden = c.dim({"hidden_size", "embedding_dim"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"num_heads"}, 8);
  const auto share = [&](std::string_view key, double fallback) {
    const double width = static_cast<double>(hidden) * c.number({key}, fallback);
    (void)whole_width(c, key, width);
    return width;
  };
  const Size qk = static_cast<Size>(share("qk_dim_factor", 0.5));
  const Size v = static_cast<Size>(share("v_dim_factor", 1.0));
  const Size up =
      rounded_up(share("ffn_proj_factor", 2.667), c.dim({"ffn_round_up_to_multiple_of"}, 64));
  const Bias bias = c.bias({"use_bias"}, false);
  const std::string mode = c.text({"weight_mode"}, "single");
  if (mode != "single" && mode != "fused")
    c.fail("weight_mode", "found '" + mode + "', expected single or fused");
  const auto norm = [&](std::string_view name, std::string_view class_name, Size dim) {
    return in(name, class_name,
              tensor("weight", {dim}, Role::norm) +
                  (bias == Bias::yes ? tensor("bias", {dim}, Role::norm) : Part{}));
  };
  Part layer = mode == "single"
                   ? linear("q", hidden, qk, bias) + linear("k", hidden, qk, bias) +
                         linear("v", hidden, v, bias) + linear("ogate_preact", hidden, v, bias) +
                         linear("igate_preact", hidden, heads, Bias::yes) +
                         linear("fgate_preact", hidden, heads, Bias::yes)
                   : linear("qkv_opreact", hidden, 2 * qk + 2 * v, bias) +
                         linear("ifgate_preact", hidden, 2 * heads, Bias::yes);
  layer = std::move(layer) + module("ogate_act_fn", "Sigmoid") +
          module("mlstm_backend", "xLSTMBackend") +
          norm("multihead_norm", "xLSTMMultiHeadLayerNorm", v) +
          linear("out_proj", v, hidden, bias);
  const Size qk_head = qk / heads, v_head = v / heads;
  layer.caches = {
      {.kind = CacheKind::recurrent, .per_sequence = heads * (qk_head * v_head + qk_head + 1)}};
  const Part ffn = (mode == "single" ? linear("proj_up_gate", hidden, up, bias) +
                                           linear("proj_up", hidden, up, bias)
                                     : linear("proj_up_gate_z", hidden, 2 * up, bias)) +
                   linear("proj_down", up, hidden, bias) + module("act_fn", "SiLU");
  const Part block = norm("norm_mlstm", "xLSTMRMSNorm", hidden) +
                     in("mlstm_layer", "xLSTMLayer", layer) +
                     norm("norm_ffn", "xLSTMRMSNorm", hidden) + in("ffn", "xLSTMFeedForward", ffn);
  return unsplittable(
      in("backbone", "xLSTMModel",
         embedding("embeddings", vocab, hidden) +
             stack("blocks", "xLSTMBlock", c.dim({"num_hidden_layers", "num_blocks"}),
                   [&] { return block; }) +
             rms_norm("out_norm", "xLSTMRMSNorm", hidden)) +
          lm_head("backbone.embeddings.weight", vocab, hidden, false),
      {"xLSTMBlock"});
}

}  // namespace headroom::model::families::xlstm
