// Jais: GPT-2 with a gated feed-forward and linear biases by distance instead of positions.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::jais {

/// Sources: llama.cpp conversion/jais.py and src/models/jais.cpp; vLLM 0.10 jais.py. Slopes of the
/// biases are stored, but not trained.
Part jais(const Config& c) {
  const Size hidden = c.dim({"n_embd", "hidden_size"}), heads = c.dim({"n_head"});
  const Size inner = c.dim({"n_inner"}, 4 * hidden), vocab = c.dim({"vocab_size"});
  const std::string act = c.text({"activation_function"}, "swiglu");
  if (act != "swiglu") c.fail("activation_function", "found '" + act + "', expected swiglu");
  const std::string positions = c.text({"position_embedding_type"}, "alibi");
  if (positions != "alibi")
    c.fail("position_embedding_type", "found '" + positions + "', expected alibi");
  if (hidden % heads != 0)
    c.fail("n_head", "found " + std::to_string(heads) + ", expected a divisor of n_embd");
  const Part layers = stack("h", "JAISBlock", c.dim({"n_layer"}), [&] {
    Part attention = conv1d("c_attn", hidden, 3 * hidden) + conv1d("c_proj", hidden, hidden);
    attention.caches = {kv_cache({heads, heads, hidden / heads})};
    return layer_norm("ln_1", hidden) + in("attn", "JAISAttention", std::move(attention)) +
           layer_norm("ln_2", hidden) +
           in("mlp", "JAISMLP",
              conv1d("c_fc", hidden, inner) + conv1d("c_fc2", hidden, inner) +
                  conv1d("c_proj", inner, hidden) + module("act", "SwiGLUActivation"));
  });
  return with_quirks(
      unsplittable(in("transformer", "JAISModel",
                      embedding("wte", vocab, hidden) + layers + layer_norm("ln_f", hidden) +
                          in("relative_pe", "AlibiPositionEmbeddingLayer",
                             buffer("slopes", {heads, 1}, Element::floating, true))) +
                       lm_head("transformer.wte.weight", vocab, hidden,
                               c.flag({"tie_word_embeddings"}, true)),
                   {"JAISBlock"}),
      {.attention = {.rotation = Rotation::none}});
}

}  // namespace headroom::model::families::jais
