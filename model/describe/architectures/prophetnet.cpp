// ProphetNet (arXiv:2001.04063): a decoder that predicts the next n tokens at once.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::prophetnet {

Part projections(Size hidden) {
  return linear("key_proj", hidden, hidden, Bias::yes) +
         linear("value_proj", hidden, hidden, Bias::yes) +
         linear("query_proj", hidden, hidden, Bias::yes) +
         linear("out_proj", hidden, hidden, Bias::yes);
}

Part attended(std::string_view name, std::string_view class_name, Part part, Size hidden) {
  return in(name, class_name, std::move(part)) +
         layer_norm(std::string(name) + "_layer_norm", hidden);
}

/// A decoder layer's self-attention and its cross-attention to the encoder.
Part decoder_attention(const Config& c, Size hidden, Size heads) {
  const Cache kept = kv_cache({heads, heads, hidden / heads});
  Part self = projections(hidden) + linear("relative_pos_embeddings", hidden,
                                           c.dim({"num_buckets"}, 32) * heads, Bias::yes);
  self.caches = {kept};
  Part p = attended("self_attn", "ProphetNetNgramSelfAttention", std::move(self), hidden);
  if (c.flag({"add_cross_attention"}, true)) {
    Part cross = projections(hidden);
    cross.caches = {kept};
    cross.caches[0].kind = CacheKind::cross_attention;
    p = std::move(p) + attended("cross_attn", "ProphetNetAttention", std::move(cross), hidden);
  }
  return p;
}

/// Source: transformers 5.23, models/prophetnet/modeling_prophetnet.py. The cache holds only the
/// main stream of tokens.
Part prophetnet(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const std::string act = activation_class(c, {"activation_function"}, "gelu");
  const auto feed_forward = [&](Size inner) {
    return attended("feed_forward", "ProphetNetFeedForward",
                    module("activation_fn", act) +
                        linear("intermediate", hidden, inner, Bias::yes) +
                        linear("output", inner, hidden, Bias::yes),
                    hidden);
  };
  const auto tables = [&] {
    return embedding("word_embeddings", vocab, hidden) +
           embedding("position_embeddings", c.dim({"max_position_embeddings"}, 512), hidden,
                     "ProphetNetPositionalEmbeddings");
  };
  const auto encoder = [&] {
    return in("encoder", "ProphetNetEncoder",
              tables() + layer_norm("embeddings_layer_norm", hidden) +
                  stack("layers", "ProphetNetEncoderLayer", c.dim({"num_encoder_layers"}, 12), [&] {
                    return attended("self_attn", "ProphetNetAttention", projections(hidden),
                                    hidden) +
                           feed_forward(c.dim({"encoder_ffn_dim"}, 4096));
                  }));
  };
  const Size heads = c.dim({"num_decoder_attention_heads"}, 16);
  const auto decoder = [&] {
    return in("decoder", "ProphetNetDecoder",
              tables() + embedding("ngram_embeddings", c.dim({"ngram"}, 2), hidden) +
                  stack("layers", "ProphetNetDecoderLayer", c.dim({"num_decoder_layers"}, 12),
                        [&] {
                          return decoder_attention(c, hidden, heads) +
                                 feed_forward(c.dim({"decoder_ffn_dim"}, 4096));
                        }) +
                  layer_norm("embeddings_layer_norm", hidden));
  };
  const bool alone = is_for(c, "ForCausalLM"), bare = is_for(c, "ProphetNetModel");
  const std::string scope = bare ? "" : "prophetnet.", words = scope + "word_embeddings.weight";
  Part body = embedding("word_embeddings", vocab, hidden);
  if (!alone) body = std::move(body) + encoder();
  body = std::move(body) + decoder();
  if (!bare)
    body =
        in("prophetnet", alone ? "ProphetNetDecoderWrapper" : "ProphetNetModel", std::move(body)) +
        output_head("lm_head", hidden, vocab);
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  if (!alone) body = tied(std::move(body), words, scope + "encoder.word_embeddings.weight");
  body = tied(std::move(body), words, scope + "decoder.word_embeddings.weight");
  return bare ? body : tied(std::move(body), words, "lm_head.weight");
}

}  // namespace headroom::model::families::prophetnet
