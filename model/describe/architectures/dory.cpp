// Dory: a normalised transformer (arXiv:2410.01131). Tokens run through a part of the stack several
// times.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::dory {

/// Layers [first, last) run `loops` times.
struct Loop {
  Size first, last, loops;
  Size of(Size layer) const { return layer >= first && layer < last ? loops : 1; }
};

/// The layers of the class. Published files list attention and feed-forward as entries of their
/// own, so that a layer counts as two there.
struct Stack {
  std::vector<std::string> types;
  Loop loop;
  Size size() const { return static_cast<Size>(types.size()); }
};

Loop loop_of(const Config& c, Size layers, Size entries) {
  const auto stated = [&](std::string_view key, Size fallback) {
    return c.has(key) ? c.count({key}) / entries : fallback;
  };
  const Size before = stated("n_input_layers", 8), after = stated("n_output_layers", 8);
  const Size inside = stated("n_recurrent_layers", std::max<Size>(layers - before - after, 0));
  if (before + inside + after != layers)
    c.fail("n_recurrent_layers", "found " + std::to_string(before + inside + after) +
                                     " input, recurrent and output layers, expected " +
                                     std::to_string(layers));
  const Size loops = c.dim({"n_recurrent_loops"}, 2);
  if (loops > most_layers)
    c.fail("n_recurrent_loops", "found " + std::to_string(loops) + ", at most " +
                                    std::to_string(most_layers) + " are supported");
  return {before, before + inside, loops};
}

Stack stack_of(const Config& c) {
  const Size stated = c.dim({"num_hidden_layers"});
  auto types = layer_types(
      c, stated, [](Size i) { return (i + 1) % 4 == 0 ? "full_attention" : "sliding_attention"; },
      {"full_attention", "sliding_attention", "mlp"});
  if (std::ranges::find(types, "mlp") == types.end()) return {types, loop_of(c, stated, 1)};
  std::vector<std::string> paired;
  for (std::size_t i = 0; i + 1 < types.size(); i += 2) {
    if (types[i] == "mlp" || types[i + 1] != "mlp")
      c.fail("layer_types", "expected attention and mlp in turn");
    paired.push_back(types[i]);
  }
  if (types.size() % 2 != 0) c.fail("layer_types", "expected an mlp behind each attention");
  const auto layers = static_cast<Size>(paired.size());
  return {std::move(paired), loop_of(c, layers, 2)};
}

Part scale(std::string_view name, Size width) { return tensor(name, {width}, Role::other); }
Part unit(std::string_view name) { return module(name, "DoryL2Norm"); }

/// Loops have caches of their own, or write over one. In that case its scores still count once a
/// loop.
Part dory_attention(const Config& c, const std::string& type, Size loops) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{.kv_heads = 4, .head_dim = 256});
  const Size width = h.query * h.dim;
  const Bias bias = c.bias({"attention_bias"}, false);
  const bool own =
      word_of(c, {"recurrent_kv_cache_mode"}, "per_loop", {"per_loop", "last_loop"}) == "per_loop";
  Part attn = scale("sqk", width) + scale("s_gate", width) +
              attention(hidden, h, bias, bias, window_of(type, c.dim({"sliding_window"}, 1024))) +
              unit("q_norm") + unit("k_norm") + linear("gate_proj", hidden, width) +
              unit("attn_sub_norm");
  if (own) return in("self_attn", "DoryAttention", cached_by_each(std::move(attn), loops));
  attn.caches[0].score_dims = times({loops, attn.caches[0].score_dims});
  return in("self_attn", "DoryAttention", std::move(attn));
}

Part feed_forward(const Config& c) {
  const Size inner = c.dim({"intermediate_size"});
  return in(
      "mlp", "DoryMLP",
      scale("suv_gate", inner) + scale("suv_up", inner) +
          gated_mlp(c.dim({"hidden_size"}), inner, activation_class(c, {"hidden_act"}, "silu"),
                    c.bias({"mlp_bias"}, false)) +
          unit("ffn_sub_norm"));
}

/// Source: transformers 5.24, models/dory/{configuration,modeling}_dory.py.
Part dory(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Stack s = stack_of(c);
  const Part mlp = feed_forward(c);
  const auto layer = [&](Size i) {
    return scale("lambda_1", hidden) + scale("lambda_2", hidden) +
           dory_attention(c, s.types[static_cast<std::size_t>(i)], s.loop.of(i)) + mlp +
           unit("input_layernorm") + unit("post_attention_layernorm") +
           unit("pre_feedforward_layernorm") + unit("post_feedforward_layernorm");
  };
  const Size dim = heads_of(c, Defaults{.kv_heads = 4, .head_dim = 256}).dim;
  Part body = embedding("embed_tokens", vocab, hidden) +
              layers_repeated(stack("layers", "DoryDecoderLayer", s.size(), layer), "layers",
                              s.loop.first, s.loop.last, s.loop.loops) +
              unit("norm") + rotary_by_type(c, "DoryRotaryEmbedding", s.types, dim);
  Part head =
      lm_head("model.embed_tokens.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, false));
  head.modules.front().class_name = "DoryLMHead";
  return unsplittable(in("model", "DoryModel", std::move(body)) + std::move(head) +
                          at("lm_head", scale("logit_scale", vocab)),
                      {"DoryDecoderLayer"});
}

}  // namespace headroom::model::families::dory
