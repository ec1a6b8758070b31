// XLNet (arXiv:1906.08237): relative attention with three-dimensional projection tensors.
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::xlnet {

/// Source: transformers 5.23, models/xlnet/modeling_xlnet.py. The memory between segments depends
/// on the caller, so it is not counted.
Part xlnet(const Config& c) {
  const Size hidden = c.dim({"d_model"}), inner = c.dim({"d_inner"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"n_head"}), dim = hidden / heads;
  Part attention;
  for (const auto name : {"q", "k", "v", "o", "r"})
    attention = std::move(attention) + tensor(name, {hidden, heads, dim}, Role::matmul);
  for (const auto name : {"r_r_bias", "r_s_bias", "r_w_bias"})
    attention = std::move(attention) + tensor(name, {heads, dim}, Role::bias);
  attention = std::move(attention) + tensor("seg_embed", {2, heads, dim}, Role::other) +
              layer_norm("layer_norm", hidden) + dropout();
  const Part layer =
      in("rel_attn", "XLNetRelativeAttention", std::move(attention)) +
      in("ff", "XLNetFeedForward",
         layer_norm("layer_norm", hidden) + linear("layer_1", hidden, inner, Bias::yes) +
             linear("layer_2", inner, hidden, Bias::yes) + dropout() +
             module("activation_function", activation_class(c, {"ff_activation"}, "gelu"))) +
      dropout();
  Part body = tensor("mask_emb", {1, 1, hidden}, Role::other) +
              embedding("word_embedding", vocab, hidden) +
              stack("layer", "XLNetLayer", c.dim({"n_layer"}), [&] { return layer; }) + dropout();
  if (is_for(c, "XLNetModel")) return body;
  body = in("transformer", "XLNetModel", std::move(body)) +
         output_head("lm_loss", hidden, vocab, Bias::yes);
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  return tied(std::move(body), "lm_loss.weight", "transformer.word_embedding.weight");
}

}  // namespace headroom::model::families::xlnet
