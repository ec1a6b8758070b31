// BioGPT and XGLM: decoders from fairseq, with scaled embeddings and positions from 2 on.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::biogpt {

/// The layer that both have in common with BART's decoder, without its cross-attention.
Part fairseq_layer(const std::string& family, Size hidden, Size inner, Heads heads,
                   const std::string& act) {
  Part attn =
      linear("k_proj", hidden, hidden, Bias::yes) + linear("v_proj", hidden, hidden, Bias::yes) +
      linear("q_proj", hidden, hidden, Bias::yes) + linear("out_proj", hidden, hidden, Bias::yes);
  attn.caches = {kv_cache(heads)};
  return in("self_attn", family + "Attention", std::move(attn)) + module("activation_fn", act) +
         layer_norm("self_attn_layer_norm", hidden) + linear("fc1", hidden, inner, Bias::yes) +
         linear("fc2", inner, hidden, Bias::yes) + layer_norm("final_layer_norm", hidden);
}

/// Source: transformers 5.23, models/biogpt/{configuration,modeling}_biogpt.py.
Part biogpt_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "gelu"});
  const Part layers = stack("layers", "BioGptDecoderLayer", s.layers, [&] {
    return fairseq_layer("BioGpt", s.hidden, s.inner, s.heads, s.act);
  });
  return with_quirks(
      embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden, "BioGptScaledWordEmbedding") +
          embedding("embed_positions", c.dim({"max_position_embeddings"}) + 2, s.hidden,
                    "BioGptLearnedPositionalEmbedding") +
          layers + layer_norm("layer_norm", s.hidden),
      {.attention = {.rotation = Rotation::none, .softmax_fp32 = false}});
}
Part biogpt(const Config& c) {
  Part head = lm_head("biogpt.embed_tokens.weight", c.dim({"vocab_size"}), c.dim({"hidden_size"}),
                      c.flag({"tie_word_embeddings"}, true));
  head.modules[0].path = "output_projection";
  head.tensors[0].name = "output_projection.weight";
  return in("biogpt", "BioGptModel", biogpt_trunk(c)) + head;
}

/// Source: transformers 5.23, models/xglm/{configuration,modeling}_xglm.py.
Part xglm_trunk(const Config& c) {
  const Size hidden = c.dim({"d_model", "hidden_size"}), inner = c.dim({"ffn_dim"});
  const Size query = c.dim({"attention_heads", "num_attention_heads"});
  const std::string act = activation_class(c, {"activation_function"}, "gelu");
  if (c.flag({"add_cross_attention"}, false))
    c.fail("add_cross_attention", "found true, which is not described");
  const Part layers =
      stack("layers", "XGLMDecoderLayer", c.dim({"num_layers", "num_hidden_layers"}), [&] {
        return fairseq_layer("XGLM", hidden, inner, {query, query, hidden / query}, act);
      });
  return with_quirks(
      unsplittable(
          embedding("embed_tokens", c.dim({"vocab_size"}), hidden, "XGLMScaledWordEmbedding") +
              in("embed_positions", "XGLMSinusoidalPositionalEmbedding",
                 buffer("weights", {c.dim({"max_position_embeddings"}) + 2, hidden})) +
              layers + layer_norm("layer_norm", hidden),
          {"XGLMDecoderLayer"}),
      {.attention = {.rotation = Rotation::none, .softmax_fp32 = false}});
}
Part xglm(const Config& c) {
  return in("model", "XGLMModel", xglm_trunk(c)) +
         lm_head("model.embed_tokens.weight", c.dim({"vocab_size"}),
                 c.dim({"d_model", "hidden_size"}), c.flag({"tie_word_embeddings"}, true));
}

}  // namespace headroom::model::families::biogpt
