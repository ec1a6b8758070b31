// Encoders with rotary positions: Jina and GTE (post-norm), and EuroBERT (Llama's layer without a
// causal mask).
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::rotary_encoders {

Part attention_rows(Size hidden, Size width, Bias bias) {
  return linear("q_proj", hidden, width, bias) + linear("k_proj", hidden, width, bias) +
         linear("v_proj", hidden, width, bias) + linear("o_proj", width, hidden, bias);
}

/// The layer of Jina, GTE and Nomic, with norms after each block.
Part post_norm_layer(const std::string& f, Size hidden, Part mlp, Part attention) {
  return layer_norm("post_attention_layernorm", hidden) + dropout("post_attention_dropout") +
         dropout("post_mlp_dropout") + in("mlp", f + "MLP", std::move(mlp)) +
         in("self_attn", f + "Attention", std::move(attention)) +
         layer_norm("post_mlp_layernorm", hidden);
}

/// Source: transformers 5.23, models/jina_embeddings_v3.
Part jina_embeddings_v3(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "JinaEmbeddingsV3";
  const Size dim = c.dim({"head_dim"}, s.hidden / s.heads), width = dim * s.heads;
  Part p =
      in("embeddings", f + "Embeddings",
         embedding("word_embeddings", s.vocab, s.hidden) +
             embedding("token_type_embeddings", s.types, s.hidden) +
             layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions) +
             position_ids(s.positions, "token_type_ids")) +
      frequencies("rotary_emb", f + "RotaryEmbedding", dim / 2) +
      with_quirks(stack("layers", f + "Layer", s.layers,
                        [&] {
                          return post_norm_layer(f, s.hidden,
                                                 module("activation_fn", s.act) +
                                                     linear("fc1", s.hidden, s.inner, Bias::yes) +
                                                     linear("fc2", s.inner, s.hidden, Bias::yes),
                                                 attention_rows(s.hidden, width, Bias::yes));
                        }),
                  {.norms_the_sum = true});
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part), {f + "Embeddings", f + "Layer"});
  };
  if (is_for(c, "JinaEmbeddingsV3Model")) return whole(std::move(p) + bert_pooler(f, s.hidden));
  return with_tied_decoder(
      whole(roberta_lm_head(f + "LMHead", s) + in("roberta", f + "Model", std::move(p))),
      "lm_head.decoder", "lm_head.bias", "roberta.embeddings.word_embeddings.weight", s);
}

/// Source: transformers 5.23, models/gte.
Part gte(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const Size dim = c.dim({"head_dim"}, s.hidden / s.heads), width = dim * s.heads;
  Part p = embedding("word_embeddings", s.vocab, s.hidden);
  if (s.types > 0) p = std::move(p) + embedding("token_type_embeddings", s.types, s.hidden);
  p = in("embeddings", "GteEmbeddings",
         std::move(p) + layer_norm("LayerNorm", s.hidden) + dropout()) +
      frequencies("rotary_emb", "GteRotaryEmbedding", dim / 2) +
      with_quirks(stack("layers", "GteLayer", s.layers,
                        [&] {
                          return post_norm_layer(
                              "Gte", s.hidden,
                              linear("gate_proj", s.hidden, s.inner) +
                                  linear("up_proj", s.hidden, s.inner) +
                                  linear("down_proj", s.inner, s.hidden, Bias::yes) +
                                  module("act_fn", s.act) + dropout(),
                              attention_rows(s.hidden, width, Bias::yes));
                        }),
                  {.norms_the_sum = true});
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part), {"GteEmbeddings", "GteLayer"});
  };
  if (is_for(c, "GteModel")) return whole(std::move(p));
  p = whole(in("gte", "GteModel", std::move(p)) +
            in("lm_head", "GteLMHead",
               linear("dense", s.hidden, s.hidden, Bias::yes) + layer_norm("layer_norm", s.hidden) +
                   output_head("decoder", s.hidden, s.vocab, Bias::yes)));
  if (!s.tied) return p;
  return tied(std::move(p), "lm_head.decoder.weight", "gte.embeddings.word_embeddings.weight");
}

/// Source: transformers 5.23, models/eurobert.
Part eurobert(const Config& c) {
  const std::string f = "EuroBert";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const std::string norm = f + "RMSNorm";
  Part p = embedding("embed_tokens", vocab, hidden) +
           stack("layers", f + "DecoderLayer", c.dim({"num_hidden_layers"}),
                 [&] {
                   Part attended = attention(hidden, heads, bias, bias);
                   attended.caches.clear();  // an encoder needs no KV cache
                   return in("self_attn", f + "Attention", std::move(attended)) +
                          in("mlp", f + "MLP", gated_mlp(hidden, inner, act, mlp)) +
                          rms_norm("input_layernorm", norm, hidden) +
                          rms_norm("post_attention_layernorm", norm, hidden);
                 }) +
           rms_norm("norm", norm, hidden) + rotary("EuroBertRotaryEmbedding", heads.dim);
  const auto whole = [&](Part part) { return unsplittable(std::move(part), {f + "DecoderLayer"}); };
  if (is_for(c, f + "Model")) return whole(std::move(p));
  p = whole(in("model", f + "Model", std::move(p)) + output_head("lm_head", hidden, vocab, mlp));
  if (!c.flag({"tie_word_embeddings"}, false)) return p;
  return tied(std::move(p), "lm_head.weight", "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::rotary_encoders
