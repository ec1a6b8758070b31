// MiniCPM3 (arXiv:2404.06395), Youtu-LLM and Mistral 4: latent attention (MLA). MiniCPM3 and
// Youtu-LLM have a dense feed-forward, Mistral 4 has experts.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::minicpm3 {

/// Source: transformers 5.23, models/minicpm3. The embedding's scale is a buffer. It is
/// floating-point only if the config's `scale_emb` is.
Part minicpm3(const Config& c) {
  const Classes k{"MiniCPM3"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"num_attention_heads"});
  const Latent a{.heads = heads,
                 .query_rank = c.count({"q_lora_rank"}, 0),
                 .rank = c.dim({"kv_lora_rank"}),
                 .nope = c.dim({"qk_nope_head_dim"}),
                 .rope = c.dim({"qk_rope_head_dim"}),
                 .value = c.dim({"v_head_dim"}, hidden / heads)};
  const auto* scale = c.object().if_contains("scale_emb");
  const Element element = scale && scale->is_double() ? Element::floating : Element::int64;
  const Part attn = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false));
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&] {
    return decoder_layer(k, hidden, attn, dense_mlp(c, k, c.bias({"mlp_bias"}, false)));
  });
  return unsplittable(in("model", k("Model"),
                         in("embed_tokens", k("ScaledWordEmbedding"),
                            tensor("weight", {vocab, hidden}, Role::embedding) +
                                buffer("embed_scale", {}, element)) +
                             layers + rms_norm("norm", k("RMSNorm"), hidden) +
                             rotary(k("RotaryEmbedding"), a.rope)) +
                          lm_head("model.embed_tokens.weight", vocab, hidden,
                                  c.flag({"tie_word_embeddings"}, true)),
                      {k("DecoderLayer")});
}

/// Source: transformers 5.23, models/youtu.
Part youtu(const Config& c) {
  const Classes k{"Youtu"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Decoder frame{.family = "Youtu",
                      .rotated = a.rope,
                      .norm = rms_norm("norm", k("RMSNorm"), hidden),
                      .tied = Tied::yes};
  const Part attn = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false));
  return decoder(c, frame, [&] { return decoder_layer(k, hidden, attn, dense_mlp(c, k)); });
}

/// Source: transformers 5.23, models/mistral4.
Part mistral4(const Config& c) {
  const Classes k{"Mistral4"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Part attn = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false));
  const Part gate = router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  const Size head = a.nope + a.rope;
  const double share = static_cast<double>(a.rope) / static_cast<double>(head);
  return decoder(c, k, rotated_dims(c, head, share), [&](Size i) {
    return decoder_layer(
        k, hidden, attn,
        is_sparse(c, i, 0) ? shared_mixture(c, k, k("MoE"), gate) : dense_mlp(c, k));
  });
}

}  // namespace headroom::model::families::minicpm3
