// T5Gemma 2 (arXiv:2512.14856): Gemma 3 as encoder with its vision tower, and Gemma 3 as decoder. A
// single attention in each decoder layer reads its own tokens and the encoder's.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::t5gemma2 {

constexpr Classes k{"T5Gemma2"};

enum class Side { encoder, decoder };

Part half(const Config& c, Side side) {
  const bool decoder = side == Side::decoder;
  const Common s = common_of(c, {.kv_heads = 4, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.count({"sliding_window"}, 4096);
  const auto types = every_nth_full(c, s.layers, c.dim({"sliding_window_pattern"}, 6));
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), s.hidden); };
  const auto layer = [&](Size i) {
    Part attn = attention(s.hidden, s.heads, bias, bias,
                          window_of(types[static_cast<std::size_t>(i)], window)) +
                head_norms(k("RMSNorm"), s.heads.dim);
    if (decoder) {
      attn.caches.push_back(kv_cache(s.heads));
      attn.caches.back().kind = CacheKind::cross_attention;
    } else {
      attn.caches.clear();
    }
    return in("self_attn", k(decoder ? "MergedAttention" : "SelfAttention"), std::move(attn)) +
           norm("pre_self_attn_layernorm") + norm("post_self_attn_layernorm") +
           in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act) + dropout()) +
           norm("pre_feedforward_layernorm") + norm("post_feedforward_layernorm") + dropout();
  };
  return in("embed_tokens", k("TextScaledWordEmbedding"),
            tensor("weight", {c.dim({"vocab_size"}), s.hidden}, Role::embedding) +
                tensor("eoi_embedding", {s.hidden}, Role::embedding) + buffer("embed_scale", {})) +
         norm("norm") +
         stack("layers", k(decoder ? "DecoderLayer" : "EncoderLayer"), s.layers, layer) +
         dropout() + rotary_by_type(c, k("RotaryEmbedding"), types, s.heads.dim);
}

/// Source: transformers 5.23, models/t5gemma2/{configuration,modeling}_t5gemma2.py.
Part t5gemma2(const Config& c) {
  const Config encoder = with_class_defaults(c.section_or_empty("encoder"), "t5gemma2_encoder");
  const Config decoder = with_class_defaults(c.section_or_empty("decoder"), "t5gemma2_decoder");
  const Config text = section_of(encoder, "text_config", "t5gemma2_text");
  const Submodel vision = vision_model(section_of(encoder, "vision_config", "siglip_vision_model"));
  const Size hidden = text.dim({"hidden_size"}), vocab = decoder.dim({"vocab_size"});
  Part body =
      in("encoder", k("Encoder"),
         in("text_model", k("TextEncoder"), half(text, Side::encoder)) + vision.as("vision_tower") +
             in("multi_modal_projector", k("MultiModalProjector"),
                tensor("mm_input_projection_weight", {vision.width, hidden}, Role::matmul) +
                    rms_norm("mm_soft_emb_norm", k("RMSNorm"), vision.width) +
                    module("avg_pool", "AvgPool2d"))) +
      in("decoder", k("Decoder"), half(decoder, Side::decoder));
  body = with_unsplittable(std::move(body), {k("EncoderLayer"), k("DecoderLayer")});
  const bool bare = is_for(c, "T5Gemma2Model");
  const std::string scope = bare ? "" : "model.";
  if (!bare)
    body = in("model", k("Model"), std::move(body)) +
           in("lm_head", k("LMHead"), output_head("out_proj", hidden, vocab));
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  const std::string owner = scope + "encoder.text_model.embed_tokens.";
  for (const std::string_view leaf : {"weight", "eoi_embedding"})
    body = tied(std::move(body), join(scope + "decoder.embed_tokens.", leaf), join(owner, leaf));
  return bare ? body : tied(std::move(body), "lm_head.out_proj.weight", owner + "weight");
}

}  // namespace headroom::model::families::t5gemma2
