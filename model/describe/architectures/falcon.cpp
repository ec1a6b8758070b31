// Falcon: fused projections, attention parallel to the feed-forward, and one or few key-value
// heads.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::falcon {

Part falcon_linear(std::string_view name, Size in_dim, Size out_dim, Bias bias) {
  Part p = linear(name, in_dim, out_dim, bias);
  p.modules[0].class_name = "FalconLinear";
  return p;
}

/// Parallel layers have one norm before both halves, or two in the newer layout. Sequential layers
/// have one norm before each half.
Part norms(const Config& c, Size hidden) {
  const bool modern = c.flag({"new_decoder_architecture"}, false);
  if (!c.flag({"parallel_attn"}, true))
    return layer_norm("post_attention_layernorm", hidden) + layer_norm("input_layernorm", hidden);
  if (c.count({"num_ln_in_parallel_attn"}, modern ? 2 : 1) == 2)
    return layer_norm("ln_attn", hidden) + layer_norm("ln_mlp", hidden);
  return layer_norm("input_layernorm", hidden);
}

/// Source: transformers 5.23, models/falcon/{configuration,modeling}_falcon.py. In the newer layout
/// the code repeats keys and values for every query head before it caches them.
Part falcon_trunk(const Config& c) {
  const Size hidden = c.dim({"n_embed", "hidden_size"});
  const Size query = c.dim({"num_attention_heads", "n_head"});
  const bool modern = c.flag({"new_decoder_architecture"}, false);
  const Size kv = modern                          ? c.dim({"num_kv_heads", "n_head_kv"}, query)
                  : c.flag({"multi_query"}, true) ? 1
                                                  : query;
  const Heads heads{query, kv, hidden / query};
  const Size inner = c.dim({"ffn_hidden_size"}, 4 * hidden);
  const Bias b = c.bias({"bias"}, false);
  const std::string act = activation_class(c, {"activation"}, "gelu");
  const Part layers =
      stack("h", "FalconDecoderLayer", c.dim({"num_hidden_layers", "n_layer"}), [&] {
        Part attn = falcon_linear("query_key_value", hidden, (query + 2 * kv) * heads.dim, b) +
                    falcon_linear("dense", hidden, hidden, b) +
                    module("attention_dropout", "Dropout");
        attn.caches = {kv_cache(heads)};
        if (modern) attn.caches[0].expanded_per_token = 2 * query * heads.dim;
        return in("self_attention", "FalconAttention", std::move(attn)) +
               in("mlp", "FalconMLP",
                  falcon_linear("dense_h_to_4h", hidden, inner, b) + module("act", act) +
                      falcon_linear("dense_4h_to_h", inner, hidden, b)) +
               norms(c, hidden);
      });
  return with_quirks(
      unsplittable(embedding("word_embeddings", c.dim({"vocab_size"}), hidden) + layers +
                       layer_norm("ln_f", hidden) +
                       rotary("FalconRotaryEmbedding", rotated_if_scaled(c, heads.dim)),
                   {"FalconDecoderLayer"}),
      {.attention = {.rotation = Rotation::added,
                     .softmax_fp32 = false,
                     .always_masked = true,
                     .spreads_keys = true,
                     .drops_only_alibi = true},
       .parallel = Parallel::by_config,
       .adds_bias = true});
}
Part falcon(const Config& c) {
  return in("transformer", "FalconModel", falcon_trunk(c)) +
         lm_head("transformer.word_embeddings.weight", c.dim({"vocab_size"}),
                 c.dim({"n_embed", "hidden_size"}), c.flag({"tie_word_embeddings"}, true));
}

/// Falcon under the name of its first code. There the type of the 40B model means the newer layout,
/// and the default is sequential layers. Source: vLLM 0.33 transformers_utils/configs/falcon.py.
Part refined_web(const Config& c) {
  return falcon(c.with_defaults(
      {{"new_decoder_architecture", c.model_type() == "RefinedWeb"}, {"parallel_attn", false}}));
}

}  // namespace headroom::model::families::falcon
