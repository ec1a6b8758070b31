// Dia: an encoder of text, byte by byte, and a decoder that writes the channels of a speech codec
// side by side.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::dia {

const std::string k = "Dia";

Part norm(std::string_view name, Size width) { return rms_norm(name, k + "RMSNorm", width); }

Part mlp(const Config& s, Size hidden) {
  const Size inner = s.dim({"intermediate_size"});
  return in("mlp", k + "MLP",
            linear("gate_up_proj", hidden, 2 * inner) + linear("down_proj", inner, hidden) +
                module("activation_fn", activation_class(s, {"hidden_act"}, "silu")));
}

Part encoder(const Config& e) {
  const Size hidden = e.dim({"hidden_size"});
  const Heads heads = heads_of(e, Defaults{.head_dim = 128});
  Part seeing = attention(hidden, heads);
  seeing.caches.clear();
  const Part layer = norm("pre_sa_norm", hidden) +
                     in("self_attention", k + "SelfAttention", std::move(seeing)) +
                     norm("post_sa_norm", hidden) + mlp(e, hidden);
  return in("encoder", k + "Encoder",
            embedding("embedding", e.dim({"vocab_size"}), hidden) +
                stack("layers", k + "EncoderLayer", e.dim({"num_hidden_layers"}),
                      [&](Size) { return layer; }) +
                norm("norm", hidden) +
                rotary(k + "RotaryEmbedding", rotated_if_scaled(e, heads.dim)));
}

Part decoder_side(const Config& d, Size channels) {
  const Size hidden = d.dim({"hidden_size"}), seen = d.dim({"cross_hidden_size"}, 1024);
  const Heads heads = heads_of(d, Defaults{.head_dim = 128});
  const Heads cross{d.dim({"cross_num_attention_heads"}, 16),
                    d.dim({"cross_num_key_value_heads"}, 16), d.dim({"cross_head_dim"}, 128)};
  Part crossing = linear("q_proj", hidden, cross.query * cross.dim) +
                  linear("k_proj", seen, cross.kv * cross.dim) +
                  linear("v_proj", seen, cross.kv * cross.dim) +
                  linear("o_proj", cross.query * cross.dim, hidden);
  crossing.caches = {kv_cache(cross)};
  crossing.caches.front().kind = CacheKind::cross_attention;
  const Part layer = in("self_attention", k + "SelfAttention", attention(hidden, heads)) +
                     in("cross_attention", k + "CrossAttention", std::move(crossing)) +
                     norm("pre_sa_norm", hidden) + norm("pre_ca_norm", hidden) +
                     norm("pre_mlp_norm", hidden) + mlp(d, hidden);
  return in("decoder", k + "Decoder",
            in("embeddings", k + "MultiChannelEmbedding",
               buffer("offsets", {channels}, Element::int64) +
                   embedding("embed", times({channels, d.dim({"vocab_size"})}), hidden)) +
                stack("layers", k + "DecoderLayer", d.dim({"num_hidden_layers"}),
                      [&](Size) { return layer; }) +
                norm("norm", hidden) +
                rotary(k + "RotaryEmbedding", rotated_if_scaled(d, heads.dim)));
}

/// Source: transformers 5.23, models/dia/{configuration,modeling}_dia.py.
Part dia(const Config& c) {
  const Config d = section_of(c, "decoder_config", "dia_decoder");
  const Size channels = d.dim({"num_channels"}, 9);
  Part body = unsplittable(
      encoder(section_of(c, "encoder_config", "dia_encoder")) + decoder_side(d, channels),
      {k + "EncoderLayer", k + "DecoderLayer"});
  if (is_for(c, "Model")) return body;
  return in("model", k + "Model", std::move(body)) +
         output_head("logits_dense", d.dim({"hidden_size"}),
                     times({channels, d.dim({"vocab_size"})}));
}

}  // namespace headroom::model::families::dia
