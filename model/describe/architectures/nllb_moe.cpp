// NLLB-MoE (arXiv:2207.04672): M2M-100 with a mixture in every few layers. A token uses two
// experts.
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::nllb_moe {

Part expert(Size hidden, Size inner, const std::string& act) {
  return linear("fc1", hidden, inner, Bias::yes) + linear("fc2", inner, hidden, Bias::yes) +
         dropout() + module("act", act);
}

/// Source: transformers 5.23, models/nllb_moe/modeling_nllb_moe.py.
Part nllb_moe(const Config& c) {
  const std::string f = "NllbMoe";
  const Size hidden = c.dim({"d_model"}), vocab = c.dim({"vocab_size"});
  const Size rows = c.dim({"max_position_embeddings"}, 1024) + 2;
  const Routing r{c.dim({"num_experts"}, 128), 2};
  if (r.experts < r.used || r.experts > most_layers)
    c.fail("num_experts", "expected 2 to " + std::to_string(most_layers));
  const auto words = [&](std::string_view name) {
    return embedding(name, vocab, hidden, f + "ScaledWordEmbedding");
  };
  const auto side = [&](std::string_view name) {
    const bool decoder = name == "decoder";
    const Seq2SeqSizes s = seq2seq_sizes(c, name);
    const Size step = c.count({join(name, "_sparse_step")}, 4);
    const auto layer = [&](Size i) {
      Part p = decoder
                   ? cached_attention("self_attn", f + "Attention", s, CacheKind::self_attention) +
                         module("activation_fn", s.act)
                   : seq2seq_attention("self_attn", f + "Attention", s);
      p = std::move(p) + dropout("attn_dropout") + layer_norm("self_attn_layer_norm", hidden);
      if (decoder)
        p = std::move(p) +
            cached_attention("cross_attention", f + "Attention", s, CacheKind::cross_attention) +
            layer_norm("cross_attention_layer_norm", hidden);
      if (step > 0 && (i + 1) % step == 0) {
        Part experts;
        for (Size e = 0; e < r.experts; ++e)
          experts = std::move(experts) + in("expert_" + std::to_string(e), f + "DenseActDense",
                                            expert(hidden, s.inner, s.act));
        p = std::move(p) +
            in("ffn", f + "SparseMLP",
               in("router", f + "Top2Router",
                  linear("classifier", hidden, r.experts, c.bias({"router_bias"}, false))) +
                   in("experts", f + "Experts",
                      routed(std::move(experts), r) + dropout("token_dropout")));
      } else {
        p = std::move(p) + in("ffn", f + "DenseActDense", expert(hidden, s.inner, s.act));
      }
      return std::move(p) + layer_norm("ff_layer_norm", hidden) + dropout("ff_dropout");
    };
    return in(name, f + (decoder ? "Decoder" : "Encoder"),
              words("embed_tokens") +
                  in("embed_positions", f + "SinusoidalPositionalEmbedding",
                     buffer("weights", {rows, hidden})) +
                  stack("layers", f + (decoder ? "DecoderLayer" : "EncoderLayer"),
                        c.dim({join(name, "_layers")}), layer) +
                  layer_norm("layer_norm", hidden));
  };
  Part body = unsplittable(words("shared") + side("encoder") + side("decoder"),
                           {f + "EncoderLayer", f + "DecoderLayer"});
  const bool bare = is_for(c, f + "Model");
  const std::string scope = bare ? "" : "model.";
  if (!bare)
    body = in("model", f + "Model", std::move(body)) + output_head("lm_head", hidden, vocab);
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  for (const std::string_view name : {"encoder", "decoder"})
    body = tied(std::move(body), scope + "shared.weight",
                scope + std::string(name) + ".embed_tokens.weight");
  return bare ? body : tied(std::move(body), scope + "shared.weight", "lm_head.weight");
}

}  // namespace headroom::model::families::nllb_moe
