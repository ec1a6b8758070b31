// Talkie: norms without weights, a gain for each head, each half of a layer and the output, and the
// embedding added to each layer.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::talkie {

Part gain(std::string_view name, std::string_view tensor_name, Size count) {
  return in(name, "Gain", tensor(tensor_name, {count}, Role::other));
}

/// Sources: llama.cpp conversion/talkie.py, src/models/talkie.cpp and tensor_mapping.py.
Part talkie(const Config& c) {
  const Common s = common_of(c);
  const Heads h = s.heads;
  const Size vocab = c.dim({"vocab_size"});
  const auto layer = [&] {
    Part attention =
        linear("attn_query", s.hidden, h.query * h.dim) +
        linear("attn_key", s.hidden, h.kv * h.dim) + linear("attn_value", s.hidden, h.kv * h.dim) +
        linear("attn_resid", h.query * h.dim, s.hidden) + gain("head_gain", "head_g", h.query);
    attention.caches = {kv_cache(h)};
    return in("attn", "TalkieAttention", std::move(attention)) + gain("attn_gain", "a_g", 1) +
           in("mlp", "TalkieMLP",
              linear("mlp_gate", s.hidden, s.inner) + linear("mlp_linear", s.hidden, s.inner) +
                  linear("mlp_resid", s.inner, s.hidden) + module("act_fn", s.act)) +
           gain("mlp_gain", "a_g", 1) + gain("embed_skip", "a_g", 1);
  };
  return unsplittable(
      in("model", "TalkieModel",
         embedding("embed", vocab, s.hidden) + stack("blocks", "TalkieBlock", s.layers, layer)) +
          output_head("lm_head", s.hidden, vocab) + gain("lm_head_gain", "w_g", 1),
      {"TalkieBlock"});
}

}  // namespace headroom::model::families::talkie
