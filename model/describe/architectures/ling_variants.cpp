// Decoders with the layer of Ling: Sarvam (30B and 105B), Param2 and LLaDA 2. All but the larger
// Sarvam have one matrix for queries, keys and values. The larger one has DeepSeek's latent
// attention.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::ling_variants {

/// Is the width of the shared experts that of one of them, or of all?
enum class SharedWidth { of_one, of_all };

/// Inner width of all shared experts together; 0: there are none.
Size shared_inner(const Config& c, SharedWidth stated) {
  const Size experts = c.count({"num_shared_experts", "n_shared_experts"}, 1),
             inner = c.dim({"moe_intermediate_size"});
  if (!c.has("moe_shared_expert_intermediate_size")) return experts * inner;
  const Size width = c.count({"moe_shared_expert_intermediate_size"});
  return experts == 0 || stated == SharedWidth::of_all ? std::min(experts, Size{1}) * width
                                                       : experts * width;
}

/// A router with its score correction, routed experts, and the experts of every token.
Part mixture(const Config& c, Classes k, std::string_view correction, SharedWidth stated) {
  const Size hidden = c.dim({"hidden_size"}), shared = shared_inner(c, stated);
  const Routing r = routing_of(c, {"num_experts", "n_routed_experts"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Part gate = router("gate", k("Gate"), hidden, r.experts) +
                    (c.flag({"moe_router_enable_expert_bias"}, true)
                         ? at("gate", in_fp32(score_correction(r.experts, correction)))
                         : Part{});
  return in(
      "mlp", k("SparseMoeBlock"),
      fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) + gate +
          (shared > 0 ? in("shared_experts", k("MLP"), gated_mlp(hidden, shared, act)) : Part{}));
}

/// One matrix for queries, keys and values, and norms on each head where `use_qk_norm` says so.
Part fused(const Config& c, Classes k, bool norms) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{});
  const bool bias = c.flag({"use_bias"}, false),
             qkv = c.flag({"use_qkv_bias", "attention_bias"}, false);
  Part p = linear("query_key_value", hidden, (h.query + 2 * h.kv) * h.dim,
                  bias || qkv ? Bias::yes : Bias::no) +
           linear("dense", h.query * h.dim, hidden, bias ? Bias::yes : Bias::no);
  if (c.flag({"use_qk_norm"}, norms))
    p = std::move(p) + rms_norm("query_layernorm", k("RMSNorm"), h.dim) +
        rms_norm("key_layernorm", k("RMSNorm"), h.dim);
  p.caches = {kv_cache(h)};
  return p;
}

/// The whole model with Ling's names.
Part ling(const Config& c, Classes k, bool norms, SharedWidth stated) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size dense = c.count({"first_k_dense_replace"}, 1);
  const Part attention = fused(c, k, norms), experts = mixture(c, k, "expert_bias", stated);
  const Part plain = dense_mlp(c, k, c.bias({"use_bias"}, false));
  const Size dim = heads_of(c, Defaults{}).dim;
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           in("attention", k("Attention"), attention) + (i < dense ? plain : experts) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
  });
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("word_embeddings", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary(k("RotaryEmbedding"), rotated_dims(c, dim))) +
                                      lm_head("model.word_embeddings.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {k("DecoderLayer")}),
                     {.router = {.kind = RouterKind::sigmoid}});
}

/// Source: vLLM 0.33 sarvam.py and bailing_moe.py (SarvamMoEForCausalLM).
Part sarvam_moe(const Config& c) {
  return ling(c, Classes{"SarvamMoE"}, true, SharedWidth::of_one);
}

/// Source: vLLM 0.33 param2moe.py.
Part param2moe(const Config& c) {
  return ling(c, Classes{"Param2MoE"}, false, SharedWidth::of_all);
}

/// Source: SGLang 0.5.23 llada2.py.
Part llada2(const Config& c) { return ling(c, Classes{"LLaDA2Moe"}, true, SharedWidth::of_one); }

/// Source: vLLM 0.33 sarvam.py (SarvamMLAForCausalLM).
Part sarvam_mla(const Config& c) {
  const Classes k{"SarvamMLA"};
  const Size hidden = c.dim({"hidden_size"}), dense = c.count({"first_k_dense_replace"}, 1);
  const Size every = c.dim({"moe_layer_freq"}, 1);
  const Latent a = latent_of(c);
  const Part experts = mixture(c, k, "e_score_correction_bias", SharedWidth::of_one);
  return with_quirks(decoder(c, k, rotated_if_scaled(c, a.rope),
                             [&](Size i) {
                               const bool sparse = i >= dense && (i - dense) % every == 0;
                               return decoder_layer(k, hidden,
                                                    latent_attention(hidden, a, k("RMSNorm")),
                                                    sparse ? experts : dense_mlp(c, k));
                             }),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::ling_variants
