// BLOOM: ALiBi, a norm after the embedding, biases everywhere.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::bloom {

/// Source: transformers 5.23, models/bloom/{configuration,modeling}_bloom.py.
Part bloom_trunk(const Config& c) {
  const Size hidden = c.dim({"n_embed", "hidden_size"});
  const Size query = c.dim({"n_head", "num_attention_heads"});
  const Heads heads{query, query, hidden / query};
  const Part layers = stack("h", "BloomBlock", c.dim({"n_layer", "num_hidden_layers"}), [&] {
    return layer_norm("input_layernorm", hidden) +
           in("self_attention", "BloomAttention",
              fused_attention(hidden, heads, "query_key_value", "dense", Bias::yes) +
                  module("attention_dropout", "Dropout")) +
           layer_norm("post_attention_layernorm", hidden) +
           in("mlp", "BloomMLP",
              linear("dense_h_to_4h", hidden, 4 * hidden, Bias::yes) +
                  module("gelu_impl", "BloomGelu") +
                  linear("dense_4h_to_h", 4 * hidden, hidden, Bias::yes));
  });
  return with_quirks(
      unsplittable(embedding("word_embeddings", c.dim({"vocab_size"}), hidden) +
                       layer_norm("word_embeddings_layernorm", hidden) + layers +
                       layer_norm("ln_f", hidden),
                   {"BloomBlock"}),
      {.attention = {.rotation = Rotation::none, .scores_only = true, .no_flash_package = true}});
}
Part bloom(const Config& c) {
  return in("transformer", "BloomModel", bloom_trunk(c)) +
         lm_head("transformer.word_embeddings.weight", c.dim({"vocab_size"}),
                 c.dim({"n_embed", "hidden_size"}), c.flag({"tie_word_embeddings"}, true));
}

}  // namespace headroom::model::families::bloom
