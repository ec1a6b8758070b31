// JetMoE (arXiv:2404.07413): experts for the query and output projections of attention, and for the
// feed-forward.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::jetmoe {

/// Source: transformers 5.23, models/jetmoe. Each expert that a token uses adds as many query heads
/// as there are key-value heads.
Part jetmoe(const Config& c) {
  const Classes k{"JetMoe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size kv = c.dim({"num_key_value_heads"}), dim = c.dim({"kv_channels", "head_dim"});
  const Routing r = routing_of(c, {"num_local_experts"});
  const Heads heads{kv * r.used, kv, dim};
  const auto expert = [&](std::string_view name, Size from, Size to) {
    return in(name, k("ParallelExperts"),
              routed(tensor("weight", {r.experts, to, from}, Role::matmul), r));
  };
  const Part gate = in("router", k("TopKGating"), linear("layer", hidden, r.experts));
  const Part bias = tensor("bias", {hidden}, Role::bias);
  Part attn = in("experts", k("MoA"),
                 bias + expert("input_linear", hidden, kv * dim) +
                     expert("output_linear", kv * dim, hidden) + gate) +
              linear("kv_proj", hidden, 2 * kv * dim);
  attn.caches = {kv_cache(heads)};
  const Part mlp =
      in("mlp", k("MoE"),
         bias + module("activation", activation_class(c, {"activation_function"}, "silu")) +
             expert("input_linear", hidden, 2 * inner) + expert("output_linear", inner, hidden) +
             gate);
  const Decoder frame{.family = "JetMoe",
                      .rotated = rotated_if_scaled(c, dim),
                      .norm = rms_norm("norm", k("RMSNorm"), hidden),
                      .tied = Tied::yes};
  return decoder(c, frame, [&] {
    return mlp + rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
           in("self_attention", k("Attention"), attn);
  });
}

}  // namespace headroom::model::families::jetmoe
