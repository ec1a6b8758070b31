// GPT-NeoX (Pythia, RedPajama) and its Japanese variant.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::gpt_neox {

/// These classes have a separate key for the rotated share: `rotary_pct`, next to the rope
/// parameters.
Size rotated_share(const Config& c, Size head_dim, double factor) {
  return rotated_by(c.section_or_empty(c.has("rope_scaling") ? "rope_scaling" : "rope_parameters"),
                    head_dim, c.number({"rotary_pct"}, factor));
}

/// Source: transformers 5.23, models/gpt_neox/{configuration,modeling}_gpt_neox.py.
Part gpt_neox_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "gelu"});
  const Bias b = c.bias({"attention_bias"}, true);
  const Size rotated = rotated_share(c, s.heads.dim, 0.25);
  const Part layers = stack("layers", "GPTNeoXLayer", s.layers, [&] {
    return layer_norm("input_layernorm", s.hidden) +
           layer_norm("post_attention_layernorm", s.hidden) +
           module("post_attention_dropout", "Dropout") + module("post_mlp_dropout", "Dropout") +
           in("attention", "GPTNeoXAttention",
              fused_attention(s.hidden, s.heads, "query_key_value", "dense", b)) +
           in("mlp", "GPTNeoXMLP",
              linear("dense_h_to_4h", s.hidden, s.inner, Bias::yes) +
                  linear("dense_4h_to_h", s.inner, s.hidden, Bias::yes) + module("act", s.act));
  });
  return with_quirks(
      unsplittable(embedding("embed_in", c.dim({"vocab_size"}), s.hidden) +
                       module("emb_dropout", "Dropout") + layers +
                       layer_norm("final_layer_norm", s.hidden) +
                       rotary("GPTNeoXRotaryEmbedding", rotated),
                   {"GPTNeoXLayer"}),
      {.attention = {.rotation = Rotation::concatenated}, .parallel = Parallel::by_config});
}
Part gpt_neox(const Config& c) {
  return in("gpt_neox", "GPTNeoXModel", gpt_neox_trunk(c)) +
         lm_head("gpt_neox.embed_in.weight", c.dim({"vocab_size"}), c.dim({"hidden_size"}),
                 c.flag({"tie_word_embeddings"}, false));
}

/// The layers have no biases, except one in the last layer's attention. Source: transformers 5.23,
/// models/gpt_neox_japanese.
Part gpt_neox_japanese_trunk(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Size inner = c.dim({"intermediate_multiple_size"}, 4) * hidden;
  const Heads heads = heads_of(c, {});
  const std::string act = activation_class(c, {"hidden_act"}, "gelu");
  const Part all = stack("layers", "GPTNeoXJapaneseLayer", layers, [&](Size i) {
    return layer_norm("input_layernorm", hidden) + layer_norm("post_attention_layernorm", hidden) +
           in("attention", "GPTNeoXJapaneseAttention",
              (i + 1 == layers ? tensor("dense_bias", {hidden}, Role::bias) : Part{}) +
                  module("attention_dropout", "Dropout") +
                  fused_attention(hidden, heads, "query_key_value", "dense")) +
           in("mlp", "GPTNeoXJapaneseMLP",
              linear("dense_h_to_4h", hidden, inner) + linear("dense_4h_to_h", inner, hidden) +
                  module("act", act));
  });
  const Size rotated = rotated_share(c, heads.dim, 1.0);
  return unsplittable(embedding("embed_in", c.dim({"vocab_size"}), hidden) + all +
                          layer_norm("final_layer_norm", hidden) +
                          rotary("GPTNeoXJapaneseRotaryEmbedding", rotated),
                      {"GPTNeoXJapaneseLayer"});
}
Part gpt_neox_japanese(const Config& c) {
  Part head = lm_head("gpt_neox_japanese.embed_in.weight", c.dim({"vocab_size"}),
                      c.dim({"hidden_size"}), c.flag({"tie_word_embeddings"}, true));
  head.modules[0].path = "embed_out";
  head.tensors[0].name = "embed_out.weight";
  return in("gpt_neox_japanese", "GPTNeoXJapaneseModel", gpt_neox_japanese_trunk(c)) + head;
}

}  // namespace headroom::model::families::gpt_neox
