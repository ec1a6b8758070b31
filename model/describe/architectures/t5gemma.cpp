// T5Gemma: an encoder and a decoder with Gemma 2's layer, and cross-attention in the decoder.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families::t5gemma {

constexpr std::string_view norm_class = "T5GemmaRMSNorm";

Part projections(Size hidden, Size source, const Heads& h, Bias bias) {
  return linear("q_proj", hidden, h.query * h.dim, bias) +
         linear("k_proj", source, h.kv * h.dim, bias) +
         linear("v_proj", source, h.kv * h.dim, bias) +
         linear("o_proj", h.query * h.dim, hidden, bias);
}

/// The encoder or the decoder. `source` is the width of the encoder that a decoder attends to (0:
/// this is the encoder).
Part side(const Config& c, std::string_view name, Size source) {
  const bool decoder = source > 0;
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  Heads h = heads_of(c.with_defaults({{"head_dim", 256}}));
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh");
  const Size window = c.count({"sliding_window"}, 4096);
  const auto types = c.texts({"layer_types"});
  const auto norm = [&](std::string_view which) { return rms_norm(which, norm_class, hidden); };
  const auto layer = [&](Size i) {
    const bool sliding = types.empty()
                             ? i % 2 == 0
                             : static_cast<std::size_t>(i) < types.size() &&
                                   types[static_cast<std::size_t>(i)] == "sliding_attention";
    Part own = projections(hidden, hidden, h, bias);
    if (decoder) own.caches = {kv_cache(h, sliding ? window : 0)};
    Part p = in("self_attn", "T5GemmaSelfAttention", std::move(own)) +
             norm("pre_self_attn_layernorm") + norm("post_self_attn_layernorm") +
             in("mlp", "T5GemmaMLP", gated_mlp(hidden, inner, act) + dropout()) +
             norm("pre_feedforward_layernorm") + norm("post_feedforward_layernorm") + dropout();
    if (!decoder) return p;
    Part cross = projections(hidden, source, h, bias);
    cross.caches = {kv_cache(h)};
    cross.caches[0].kind = CacheKind::cross_attention;
    return std::move(p) + in("cross_attn", "T5GemmaCrossAttention", std::move(cross)) +
           norm("pre_cross_attn_layernorm") + norm("post_cross_attn_layernorm");
  };
  return with_norm(in(name, decoder ? "T5GemmaDecoder" : "T5GemmaEncoder",
                      embedding("embed_tokens", c.dim({"vocab_size"}), hidden) + norm("norm") +
                          stack("layers", decoder ? "T5GemmaDecoderLayer" : "T5GemmaEncoderLayer",
                                c.dim({"num_hidden_layers"}), layer) +
                          dropout() + rotary("T5GemmaRotaryEmbedding", h.dim)),
                   norm_class, NormKind::rms_plus_1);
}

/// Source: transformers 5.23, models/t5gemma/modeling_t5gemma.py.
Part t5gemma(const Config& c) {
  const auto section = [&](std::string_view key) {
    return with_class_defaults(c.section_or_empty(key), "gemma2");
  };
  const Config encoder = section("encoder"), decoder = section("decoder");
  const Size width = encoder.dim({"hidden_size"});
  Part p = unsplittable(
      in("model", "T5GemmaModel", side(encoder, "encoder", 0) + side(decoder, "decoder", width)) +
          in("lm_head", "T5GemmaLMHead",
             output_head("out_proj", decoder.dim({"hidden_size"}),
                         c.dim({"vocab_size"}, decoder.dim({"vocab_size"})))),
      {"T5GemmaEncoderLayer", "T5GemmaDecoderLayer"});
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "lm_head.out_proj.weight", "model.decoder.embed_tokens.weight");
}

}  // namespace headroom::model::families::t5gemma
