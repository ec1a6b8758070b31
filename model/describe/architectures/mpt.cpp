// MPT: ALiBi, no biases, and a feed-forward of four times the width.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::mpt {

/// Source: transformers 5.23, models/mpt/{configuration,modeling}_mpt.py. There expansion_ratio,
/// no_bias, norm_type and learned_pos_emb have no effect. attn_pdrop does not change shapes.
Part mpt_trunk(const Config& c) {
  const Size hidden = c.dim({"d_model", "hidden_size"});
  const Size query = c.dim({"n_heads", "num_attention_heads"});
  const Heads heads{query, query, hidden / query};
  const Part layers = stack("blocks", "MptBlock", c.dim({"n_layers", "num_hidden_layers"}), [&] {
    return layer_norm("norm_1", hidden, Bias::no) +
           in("attn", "MptAttention", fused_attention(hidden, heads, "Wqkv", "out_proj")) +
           layer_norm("norm_2", hidden, Bias::no) +
           in("ffn", "MptMLP",
              linear("up_proj", hidden, 4 * hidden) + module("act", "GELU") +
                  linear("down_proj", 4 * hidden, hidden)) +
           module("resid_attn_dropout", "Dropout");
  });
  return with_quirks(
      unsplittable(embedding("wte", c.dim({"vocab_size"}), hidden) + layers +
                       layer_norm("norm_f", hidden, Bias::no),
                   {"MptBlock"}),
      {.attention = {.rotation = Rotation::none, .scores_only = true, .no_flash_package = true}});
}
Part mpt(const Config& c) {
  return in("transformer", "MptModel", mpt_trunk(c)) +
         lm_head("transformer.wte.weight", c.dim({"vocab_size"}), c.dim({"d_model", "hidden_size"}),
                 c.flag({"tie_word_embeddings"}, true));
}

}  // namespace headroom::model::families::mpt
