// A.X K2: latent attention with an indexer, gated outputs and gated norms.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::axk2 {

/// Source: transformers 5.23, models/axk2. Queries and the gate come from one projection.
Part axk2(const Config& c) {
  const Classes k{"AXK2"};
  const Size hidden = c.dim({"hidden_size"}), rank = c.dim({"gated_norm_rank"}, 16);
  const Latent a = latent_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  Part attn = linear("q_a_proj", hidden, a.query_rank, bias) +
              rms_norm("q_a_layernorm", k("RMSNorm"), a.query_rank) +
              linear("q_gate_proj", 2 * a.query_rank, a.heads * (a.nope + a.rope + a.value)) +
              linear("kv_a_proj_with_mqa", hidden, a.rank + a.rope, bias) +
              rms_norm("kv_a_layernorm", k("RMSNorm"), a.rank) +
              linear("kv_b_proj", a.rank, a.heads * (a.nope + a.value)) +
              linear("o_proj", a.heads * a.value, hidden, bias);
  attn.caches = {latent_cache(a)};
  attn = picked(std::move(attn), c) + indexer(c, k("Indexer"), hidden, a.query_rank);
  const auto gated_norm = [&](std::string_view name) {
    return in(name, k("GatedRMSNorm"),
              rms_norm("norm", k("RMSNorm"), hidden) +
                  in("mlp", k("GateMLP"),
                     module("activation_fn", "SiLU") + linear("fc1", hidden, rank) +
                         linear("fc2", rank, hidden)));
  };
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  const Size every = c.dim({"moe_layer_freq"}, 1);
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, a.rope),
              [&](Size i) {
                const bool sparse =
                    is_sparse(c, i, 1) && (c.has("mlp_layer_types") || i % every == 0);
                return in("self_attn", k("Attention"), attn) +
                       (sparse ? shared_mixture(c, k, k("MoE"), gate) : dense_mlp(c, k)) +
                       gated_norm("input_layernorm") +
                       (sparse ? gated_norm("post_attention_layernorm")
                               : rms_norm("post_attention_layernorm", k("RMSNorm"), hidden));
              }),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::axk2
