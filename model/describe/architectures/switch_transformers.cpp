// Switch Transformers (arXiv:2101.03961): T5 with a mixture in every few layers. A token uses one
// expert.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::switch_transformers {

const std::string f = "SwitchTransformers";

struct Sizes {
  Size hidden, inner, heads, width, buckets, experts;
  std::string act;
  Bias router_bias;
};

Part attention(const Sizes& s, std::string_view name, CacheKind kind, bool decoder, bool biased) {
  Part p = linear("q", s.hidden, s.width) + linear("k", s.hidden, s.width) +
           linear("v", s.hidden, s.width) + linear("o", s.width, s.hidden);
  if (biased) p = std::move(p) + embedding("relative_attention_bias", s.buckets, s.heads);
  if (decoder) {
    p.caches = {kv_cache({s.heads, s.heads, s.width / s.heads})};
    p.caches[0].kind = kind;
  }
  return in(name, f + "Attention", std::move(p)) +
         rms_norm("layer_norm", f + "LayerNorm", s.hidden) + dropout();
}

Part expert(const Sizes& s) {
  return linear("wi", s.hidden, s.inner) + linear("wo", s.inner, s.hidden) + dropout() +
         module("act", s.act);
}

Part feed_forward(const Sizes& s, bool sparse) {
  Part mlp;
  if (sparse) {
    Part experts;
    for (Size e = 0; e < s.experts; ++e)
      experts =
          std::move(experts) + in("expert_" + std::to_string(e), f + "DenseActDense", expert(s));
    mlp = in(
        "mlp", f + "SparseMLP",
        in("router", f + "Top1Router", linear("classifier", s.hidden, s.experts, s.router_bias)) +
            in("experts", f + "Experts", routed(std::move(experts), {s.experts, 1})));
  } else {
    mlp = in("mlp", f + "DenseActDense", expert(s));
  }
  return std::move(mlp) + rms_norm("layer_norm", f + "LayerNorm", s.hidden) + dropout();
}

/// Layers 1, 1 + step, ... are mixtures. A step of 1 makes all layers mixtures. A step of 0 makes
/// none.
bool is_sparse(Size layer, Size step) { return step > 0 && (layer % step == 1 || step == 1); }

Part stack_of(const Sizes& s, bool decoder, Size layers, Size step, Size vocab) {
  Part blocks = stack("block", f + "Block", layers, [&](Size i) {
    Part layer = in("0", f + "LayerSelfAttention",
                    attention(s, "SelfAttention", CacheKind::self_attention, decoder, i == 0));
    if (decoder)
      layer = std::move(layer) +
              in("1", f + "LayerCrossAttention",
                 attention(s, "EncDecAttention", CacheKind::cross_attention, true, false));
    return in("layer", "ModuleList",
              std::move(layer) +
                  in(decoder ? "2" : "1", f + "LayerFF", feed_forward(s, is_sparse(i, step))));
  });
  return with_norm(embedding("embed_tokens", vocab, s.hidden) + std::move(blocks) +
                       rms_norm("final_layer_norm", f + "LayerNorm", s.hidden) + dropout(),
                   f + "LayerNorm", NormKind::rms_residual);
}

/// Source: transformers 5.23, models/switch_transformers/modeling_switch_transformers.py.
Part switch_transformers(const Config& c) {
  const Size vocab = c.dim({"vocab_size"}), layers = c.dim({"num_layers"});
  const Sizes s{.hidden = c.dim({"d_model"}),
                .inner = c.dim({"d_ff"}),
                .heads = c.dim({"num_heads"}),
                .width = c.dim({"num_heads"}) * c.dim({"d_kv"}),
                .buckets = c.dim({"relative_attention_num_buckets"}, 32),
                .experts = c.dim({"num_experts"}, 8),
                .act = activation_class(c, {"dense_act_fn"}, "relu"),
                .router_bias = c.bias({"router_bias"}, false)};
  if (s.experts > most_layers) c.fail("num_experts", "more experts than are supported");
  const Size decoder_layers = c.has("num_decoder_layers") ? c.dim({"num_decoder_layers"}) : layers;
  // One of every `step` layers is a mixture. The config gives the number of mixtures or the step
  // itself.
  const auto step = [&](const std::string& side, Size of) {
    const Size sparse = c.count({"num_sparse_" + side + "_layers"}, 3);
    return c.count({side + "_sparse_step"}, sparse > 0 ? of / sparse : of);
  };
  Part p = embedding("shared", vocab, s.hidden) +
           in("encoder", f + "Stack", stack_of(s, false, layers, step("encoder", layers), vocab));
  const bool encoder_only = is_for(c, f + "EncoderModel");
  if (!encoder_only)
    p = std::move(p) +
        in("decoder", f + "Stack",
           stack_of(s, true, decoder_layers, step("decoder", decoder_layers), vocab));
  p = unsplittable(std::move(p), {f + "Block"});
  const bool head = is_for(c, "ForConditionalGeneration");
  if (head) p = std::move(p) + output_head("lm_head", s.hidden, vocab);
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  p = tied(std::move(p), "shared.weight", "encoder.embed_tokens.weight");
  if (!encoder_only) p = tied(std::move(p), "shared.weight", "decoder.embed_tokens.weight");
  return head ? tied(std::move(p), "shared.weight", "lm_head.weight") : p;
}

}  // namespace headroom::model::families::switch_transformers
