// The layers of BART-like encoder-decoders.
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families {

Seq2SeqSizes seq2seq_sizes(const Config& c, std::string_view side) {
  return {.hidden = c.dim({"d_model", "hidden_size"}),
          .inner = c.dim({join(side, "_ffn_dim")}),
          .heads = c.dim({join(side, "_attention_heads")}),
          .act = activation_class(c, {"activation_function"}, "gelu")};
}

Part seq2seq_attention(std::string_view name, std::string_view class_name, const Seq2SeqSizes& s) {
  return in(name, class_name,
            linear("k_proj", s.hidden, s.hidden, s.key_bias) +
                linear("v_proj", s.hidden, s.hidden, s.bias) +
                linear("q_proj", s.hidden, s.hidden, s.bias) +
                linear("out_proj", s.hidden, s.hidden, s.bias));
}

Part cached_attention(std::string_view name, std::string_view class_name, const Seq2SeqSizes& s,
                      CacheKind kind) {
  Part p = seq2seq_attention(name, class_name, s);
  Cache cache = kv_cache({s.heads, s.heads, s.hidden / s.heads});
  cache.path = name;
  cache.kind = kind;
  p.caches = {cache};
  return p;
}

Part seq2seq_encoder_layer(std::string_view prefix, const Seq2SeqSizes& s) {
  return seq2seq_attention("self_attn", join(prefix, "Attention"), s) +
         layer_norm("self_attn_layer_norm", s.hidden) + module("activation_fn", s.act) +
         linear("fc1", s.hidden, s.inner, Bias::yes) + linear("fc2", s.inner, s.hidden, Bias::yes) +
         layer_norm("final_layer_norm", s.hidden);
}

Part seq2seq_decoder_layer(std::string_view prefix, const Seq2SeqSizes& s) {
  const std::string attention = join(prefix, "Attention");
  return cached_attention("self_attn", attention, s, CacheKind::self_attention) +
         module("activation_fn", s.act) + layer_norm("self_attn_layer_norm", s.hidden) +
         cached_attention("encoder_attn", attention, s, CacheKind::cross_attention) +
         layer_norm("encoder_attn_layer_norm", s.hidden) +
         linear("fc1", s.hidden, s.inner, Bias::yes) + linear("fc2", s.inner, s.hidden, Bias::yes) +
         layer_norm("final_layer_norm", s.hidden);
}

}  // namespace headroom::model::families
