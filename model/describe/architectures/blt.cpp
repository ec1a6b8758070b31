// Byte Latent Transformer (arXiv:2412.09871). A small encoder reads bytes and hashes of them. A
// large model runs over patches of bytes. A small decoder writes bytes again. One more model cuts
// the patches.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::blt {

const std::string k = "Blt";

Part norm(std::string_view name, Size width) { return rms_norm(name, k + "RMSNorm", width); }

/// The sizes of a section. A feed-forward without a stated width is 8/3 of the hidden width.
struct Sizes {
  Size hidden, inner, layers;
  Heads heads;
};
Sizes sizes_of(const Config& s) {
  const Size hidden = s.dim({"hidden_size"}), query = s.dim({"num_attention_heads"});
  if (hidden % query != 0) s.fail("num_attention_heads", "expected a divisor of hidden_size");
  const Size kv = s.dim_or_none({"num_key_value_heads"}, 0);
  const Size inner = s.dim_or_none({"intermediate_size"}, 0);
  return {hidden,
          inner > 0 ? inner : 8 * hidden / 3,
          s.dim({"num_hidden_layers"}),
          {query, kv > 0 ? kv : query, hidden / query}};
}

Part layers(const Config& c, const Sizes& s) {
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return stack("layers", k + "TransformerLayer", s.layers, [&] {
    Part seeing = attention(s.hidden, s.heads);
    return in("self_attn", k + "SelfAttention", std::move(seeing)) +
           in("mlp", k + "MLP", gated_mlp(s.hidden, s.inner, act)) +
           norm("input_layernorm", s.hidden) + norm("post_attention_layernorm", s.hidden);
  });
}
Part table(const Config& c, const Sizes& s) {
  return rotary(k + "RotaryEmbedding", rotated_if_scaled(c, s.heads.dim));
}

/// Attention between bytes and patches, in every layer or once.
Part crossing(const Config& c, const Sizes& s, bool everywhere) {
  return list("cross_attn_layers", c.flag({"cross_attn_all_layers"}, everywhere) ? s.layers : 1,
              [&](const std::string& name, Size) {
                Part p = attention(s.hidden, s.heads);
                p.caches.clear();
                return in(name, k + "CrossAttention",
                          std::move(p) + norm("q_norm", s.hidden) + norm("k_norm", s.hidden));
              });
}

/// Source: transformers 5.23, models/blt/{configuration,modeling}_blt.py.
Part blt(const Config& c) {
  const Config e = section_of(c, "encoder_config", "blt_local_encoder");
  const Config d = section_of(c, "decoder_config", "blt_local_decoder");
  const Config g = section_of(c, "global_config", "blt_global_transformer");
  const Config cuts = section_of(c, "patcher_config", "blt_patcher");
  const Sizes enc = sizes_of(e), dec = sizes_of(d), all = sizes_of(g), cut = sizes_of(cuts);
  const Size vocab = c.dim({"vocab_size"});
  const Size seen = times({enc.hidden, c.dim({"cross_attn_k"}, 2)});
  const auto groups = static_cast<Size>(c.dims({"encoder_hash_byte_group_size"}).size());
  // Each hash of a byte reads a row of its own part of the table.
  const Size hashes =
      times({c.dim({"encoder_hash_byte_group_nb_functions"}, 1), groups > 0 ? groups : 6});
  const Size hashed_rows = times({c.dim({"encoder_hash_byte_group_vocab"}, 500002), hashes});
  Part body =
      in("local_encoder", k + "LocalEncoder",
         layers(e, enc) + table(e, enc) +
             linear("patch_embedding_projection", enc.hidden,
                    times({enc.hidden, e.dim({"cross_attn_k"}, 2)})) +
             embedding("embed_tokens", e.dim({"vocab_size"}), enc.hidden) +
             crossing(e, enc, false)) +
      in("global_transformer", k + "GlobalTransformer",
         layers(g, all) + table(g, all) +
             (seen == all.hidden ? module("token_embedding_projection", "Identity")
                                 : linear("token_embedding_projection", seen, all.hidden))) +
      in("local_decoder", k + "LocalDecoder",
         layers(d, dec) + table(d, dec) +
             linear("patch_embedding_projection", d.dim({"hidden_size_global"}, 2048),
                    times({dec.hidden, d.dim({"cross_attn_k"}, 2)})) +
             norm("norm", dec.hidden) + crossing(d, dec, true)) +
      looked_up(embedding("encoder_hash_tok_embedding", hashed_rows, enc.hidden), hashes);
  if (c.flag({"patch_in_forward"}, true)) {
    Part patcher = table(cuts, cut) + layers(cuts, cut) +
                   embedding("embed_tokens", cuts.dim({"vocab_size"}), cut.hidden) +
                   norm("norm", cut.hidden) +
                   linear("lm_head", cut.hidden, cuts.dim({"vocab_size"}));
    patcher.caches.clear();
    body = std::move(body) + in("patcher", k + "Patcher", std::move(patcher));
  }
  body = unsplittable(std::move(body), {k + "TransformerLayer", k + "CrossAttention"});
  if (is_for(c, "Model")) return body;
  Part p = in("model", k + "Model", std::move(body)) + output_head("lm_head", dec.hidden, vocab);
  return c.flag({"tie_word_embeddings"}, false)
             ? tied(std::move(p), "model.local_encoder.embed_tokens.weight", "lm_head.weight")
             : p;
}

}  // namespace headroom::model::families::blt
