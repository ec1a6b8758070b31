// Dory: a normalised transformer (arXiv:2410.01131). Each layer is attention or a feed-forward, and
// tokens run through a part of the stack several times.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::dory {

/// Layers [first, last) run `loops` times.
struct Loop {
  Size first, last, loops;
  Size of(Size layer) const { return layer >= first && layer < last ? loops : 1; }
};

Loop loop_of(const Config& c, Size layers) {
  const Size before = c.count({"n_input_layers"}, 0), after = c.count({"n_output_layers"}, 0);
  const Size inside = c.count({"n_recurrent_layers"}, std::max<Size>(layers - before - after, 0));
  if (before + inside + after != layers)
    c.fail("n_recurrent_layers", "found " + std::to_string(before + inside + after) +
                                     " input, recurrent and output layers, expected " +
                                     std::to_string(layers));
  const Size loops = c.dim({"n_recurrent_loops"}, 1);
  if (loops > most_layers)
    c.fail("n_recurrent_loops", "found " + std::to_string(loops) + ", at most " +
                                    std::to_string(most_layers) + " are supported");
  return {before, before + inside, loops};
}

/// Loops have caches of their own, or write over one.
Part mixer(const Config& c, const std::string& type, Size loops) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const auto scale = [](std::string_view name, Size width) {
    return tensor(name, {width}, Role::other);
  };
  if (type == "mlp")
    return in("mixer", "DoryMLP",
              gated_mlp(hidden, inner, activation_class(c, {"hidden_act"}, "silu")) +
                  scale("suv_gate", inner) + scale("suv_up", inner)) +
           scale("mlp_alpha", hidden);
  const Heads h = heads_of(c, Defaults{.kv_heads = 4, .head_dim = 256});
  const Size width = h.query * h.dim;
  const bool own =
      word_of(c, {"recurrent_kv_cache_mode"}, "per_loop", {"per_loop", "last_loop"}) == "per_loop";
  Part attn = attention(hidden, h, Bias::no, Bias::no,
                        window_of(type, c.dim_or_none({"sliding_window"}, 1024))) +
              linear("g_proj", hidden, width) + scale("sqk", width) + scale("s_gate", width);
  Cache& cache = attn.caches[0];
  cache.score_dims = times({loops, cache.score_dims});
  if (own) cache.per_token = times({loops, cache.per_token});
  return in("mixer", "DoryAttention", std::move(attn)) + scale("attn_alpha", hidden);
}

/// Sources: vLLM 0.33 dory.py and transformers_utils/configs/dory.py. vLLM runs it on one card.
Part dory(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size layers = c.dim({"num_hidden_layers"});
  const Loop loop = loop_of(c, layers);
  const auto types =
      layer_types(c, layers,
                  [](Size i) {
                    return i % 2 == 1 ? "mlp" : i % 8 == 6 ? "full_attention" : "sliding_attention";
                  },
                  {"full_attention", "sliding_attention", "mlp"});
  Part stacked = stack("layers", "DoryDecoderLayer", layers, [&](Size i) {
    return mixer(c, types[static_cast<std::size_t>(i)], loop.of(i));
  });
  for (Module& m : stacked.modules)
    for (Size i = loop.first; i < loop.last && m.class_name == "DoryDecoderLayer"; ++i)
      if (m.path == "layers." + std::to_string(i)) m.passes = loop.loops;
  return unsplittable(
      in("backbone", "DoryBackbone", embedding("embeddings", vocab, hidden) + std::move(stacked)) +
          lm_head("backbone.embeddings.weight", vocab, hidden, false) +
          at("lm_head", tensor("logit_scale", {vocab}, Role::other)),
      {"DoryDecoderLayer"});
}

}  // namespace headroom::model::families::dory
