// LiLiCorr: DFlash with a small transformer over the lattice of candidates of a block.
// Source: vLLM 0.33 lilicorr.py.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/dflash.hpp"
#include "model/describe/whole_width.hpp"

namespace headroom::model::families::lilicorr {

/// A feed-forward without a gate.
Part plain_mlp(std::string_view name, Size in_dim, Size inner, Size out) {
  return in(
      name, "LiLiCorrMLP",
      linear("up_proj", in_dim, inner, Bias::yes) + linear("down_proj", inner, out, Bias::yes));
}

Part lattice_layer(Size hidden, Size inner) {
  return rms_norm("attn_norm", "RMSNorm", hidden) +
         in("attn", "LiLiCorrLatticeAttention",
            tensor("in_proj_weight", {3 * hidden, hidden}, Role::matmul) +
                tensor("in_proj_bias", {3 * hidden}, Role::bias) +
                linear("out_proj", hidden, hidden, Bias::yes)) +
         rms_norm("mlp_norm", "RMSNorm", hidden) + plain_mlp("mlp", hidden, inner, hidden);
}

Part lattice(const Config& own, Size model, Size block) {
  constexpr Size features = 5;
  const Size hidden =
      own.dim_or_none({"lilicorr_hidden_size"}, 0) == 0 ? model : own.dim({"lilicorr_hidden_size"});
  const Size heads = own.dim({"lilicorr_num_heads"}), factor = own.dim({"lilicorr_factor_dim"});
  const Size inner =
      whole_width(own, "lilicorr_mlp_ratio",
                  static_cast<double>(hidden) * own.number({"lilicorr_mlp_ratio"}, 0.0));
  const auto to_width = [&](std::string_view name, Size from, Size to) {
    return linear(name, from, to, Bias::yes);
  };
  Part head = tensor("slot_embedding", {1, 1, block - 1, 1, hidden}, Role::embedding) +
              tensor("rank_embedding", {1, 1, 1, own.dim({"lilicorr_candidate_topk"}), hidden},
                     Role::embedding) +
              tensor("relative_slot_bias", {heads, 2 * block - 1}, Role::other) +
              tensor("same_slot_bias", {heads}, Role::other);
  if (hidden != model) head = std::move(head) + to_width("token_proj", model, hidden);
  return std::move(head) + to_width("pass_hidden_proj", model, hidden) +
         layer_norm("feature_norm", features) + plain_mlp("feature_mlp", features, hidden, hidden) +
         to_width("context_proj", model, hidden) +
         list("layers", own.dim({"lilicorr_num_layers"}),
              [&](const std::string& name, Size) {
                return in(name, "LiLiCorrLayer", lattice_layer(hidden, inner));
              }) +
         rms_norm("output_norm", "RMSNorm", hidden) + rms_norm("anchor_norm", "RMSNorm", hidden) +
         to_width("factor_input_proj", 3 * hidden, hidden) + to_width("out_head", hidden, factor) +
         to_width("in_head", hidden, factor) + to_width("anchor_out_head", hidden, factor);
}

Part lilicorr(const Config& c) {
  const DraftHead d = draft_head(c, "qwen3", dflash::none);
  const Config own = c.has("dflash_config") ? c.section("dflash_config") : c;
  const Size block = own.dim({"block_size"}, c.dim({"block_size"}, 16));
  Part head = dflash::frame(c, d);
  if (own.count({"conv_kernel_size"}, 0) > 0)
    head = head + dflash::convolutions(own, d, head.blocks);
  return std::move(head) + draft_vocabulary(d) +
         in("lilicorr", "LiLiCorrHead", lattice(own, d.hidden, block));
}

}  // namespace headroom::model::families::lilicorr
