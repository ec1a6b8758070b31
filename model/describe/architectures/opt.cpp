// OPT: learned positions and biased layer norms. One size has a narrower embedding.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::opt {

/// A layer norm. `affine` = false leaves out weight and bias.
Part norm(std::string_view name, Size dim, bool affine) {
  return affine ? layer_norm(name, dim) : module(name, "LayerNorm");
}

/// Source: transformers 5.23, models/opt/{configuration,modeling}_opt.py. Positions start at 2.
Part opt_trunk(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_dim"});
  const Size width = c.dim({"word_embed_proj_dim"}, hidden);
  const Heads heads = heads_of(c, {});
  const Bias b = c.bias({"enable_bias"}, true);
  const bool affine = c.flag({"layer_norm_elementwise_affine"}, true);
  const bool final_norm =
      c.flag({"do_layer_norm_before"}, true) && !c.flag({"_remove_final_layer_norm"}, false);
  const std::string act = activation_class(c, {"activation_function"}, "relu");
  const Part layers = stack("layers", "OPTDecoderLayer", c.dim({"num_hidden_layers"}), [&] {
    Part attn = linear("k_proj", hidden, hidden, b) + linear("v_proj", hidden, hidden, b) +
                linear("q_proj", hidden, hidden, b) + linear("out_proj", hidden, hidden, b);
    attn.caches = {kv_cache(heads)};
    return in("self_attn", "OPTAttention", std::move(attn)) + module("activation_fn", act) +
           norm("self_attn_layer_norm", hidden, affine) + linear("fc1", hidden, inner, b) +
           linear("fc2", inner, hidden, b) + norm("final_layer_norm", hidden, affine);
  });
  Part p = embedding("embed_tokens", c.dim({"vocab_size"}), width) +
           embedding("embed_positions", c.dim({"max_position_embeddings"}) + 2, hidden,
                     "OPTLearnedPositionalEmbedding");
  if (width != hidden)
    p = std::move(p) + linear("project_out", hidden, width) + linear("project_in", width, hidden);
  if (final_norm) p = std::move(p) + norm("final_layer_norm", hidden, affine);
  return with_quirks(
      unsplittable(in("decoder", "OPTDecoder", std::move(p) + layers), {"OPTDecoderLayer"}),
      {.attention = {.rotation = Rotation::none}});
}
Part opt(const Config& c) {
  return in("model", "OPTModel", opt_trunk(c)) +
         lm_head("model.decoder.embed_tokens.weight", c.dim({"vocab_size"}),
                 c.dim({"word_embed_proj_dim", "hidden_size"}),
                 c.flag({"tie_word_embeddings"}, true));
}

}  // namespace headroom::model::families::opt
