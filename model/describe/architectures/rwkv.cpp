// RWKV-4 (arXiv:2305.13048): a recurrence over time instead of attention.
#include "model/describe/blocks/blocks.hpp"
#include "model/describe/config.hpp"

namespace headroom::model::families::rwkv {

/// Source: transformers 5.23, models/rwkv. A layer keeps five states of `hidden_size`: the last
/// input of each half, and the numerator, denominator and largest exponent of the recurrence.
Part rwkv(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size attended = c.dim({"attention_hidden_size"}, hidden);
  const Size inner = c.dim({"intermediate_size"}, 4 * hidden);
  const auto mix = [&](std::string_view name) { return tensor(name, {1, 1, hidden}, Role::other); };
  Part attention = tensor("time_decay", {attended}, Role::other) +
                   tensor("time_first", {attended}, Role::other) + mix("time_mix_key") +
                   mix("time_mix_value") + mix("time_mix_receptance") +
                   module("time_shift", "ZeroPad2d") + linear("key", hidden, attended) +
                   linear("value", hidden, attended) + linear("receptance", hidden, attended) +
                   linear("output", attended, hidden);
  attention.caches = {{.kind = CacheKind::recurrent, .per_sequence = 5 * hidden}};
  const Part feed_forward = mix("time_mix_key") + mix("time_mix_receptance") +
                            module("time_shift", "ZeroPad2d") + linear("key", hidden, inner) +
                            linear("receptance", hidden, hidden) + linear("value", inner, hidden);
  const Part blocks = stack("blocks", "RwkvBlock", c.dim({"num_hidden_layers"}), [&](Size i) {
    return (i == 0 ? layer_norm("pre_ln", hidden) : Part{}) + layer_norm("ln1", hidden) +
           layer_norm("ln2", hidden) + in("attention", "RwkvSelfAttention", attention) +
           in("feed_forward", "RwkvFeedForward", feed_forward);
  });
  Part head = linear("head", hidden, vocab);
  head.tensors[0].role = Role::head;
  if (c.flag({"tie_word_embeddings"}, false)) head.tensors[0].tied_to = "rwkv.embeddings.weight";
  return unsplittable(
      in("rwkv", "RwkvModel",
         embedding("embeddings", vocab, hidden) + blocks + layer_norm("ln_out", hidden)) +
          std::move(head),
      {"RwkvBlock"});
}

}  // namespace headroom::model::families::rwkv
