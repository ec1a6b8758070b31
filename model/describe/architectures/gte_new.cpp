// GTE's multilingual encoders in their own code (arXiv:2407.19669): rotary positions, a gated
// feed-forward whose halves are one matrix, and norms after each block.
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::gte_new {

/// Source: vLLM 0.33 bert_with_rope.py, GteNewModel, and its table of names. Only the gated matrix
/// has no bias. Unless `pack_qkv` denies it, queries, keys and values are one matrix.
Part body(const Config& c, const BertSizes& s) {
  Part words = embedding("word_embeddings", s.vocab, s.hidden);
  const std::string kind = c.text({"position_embedding_type"}, "rope");
  if (kind == "absolute")
    words = std::move(words) + embedding("position_embeddings", s.positions, s.hidden);
  else if (kind != "rope")
    c.fail("position_embedding_type", "found '" + kind + "', expected rope or absolute");
  if (s.types > 0) words = std::move(words) + embedding("token_type_embeddings", s.types, s.hidden);
  const bool packed = c.flag({"pack_qkv"}, true);
  const auto layer = [&] {
    Part read = packed ? linear("qkv_proj", s.hidden, 3 * s.hidden, Bias::yes)
                       : linear("q_proj", s.hidden, s.hidden, Bias::yes) +
                             linear("k_proj", s.hidden, s.hidden, Bias::yes) +
                             linear("v_proj", s.hidden, s.hidden, Bias::yes);
    return in("attention", "NewAttention",
              std::move(read) + linear("o_proj", s.hidden, s.hidden, Bias::yes)) +
           in("mlp", "NewGatedMLP",
              linear("up_gate_proj", s.hidden, 2 * s.inner) + module("act_fn", s.act) +
                  linear("down_proj", s.inner, s.hidden, Bias::yes)) +
           layer_norm("attn_ln", s.hidden) + layer_norm("mlp_ln", s.hidden);
  };
  return in("embeddings", "NewEmbeddings", std::move(words) + layer_norm("LayerNorm", s.hidden)) +
         in("encoder", "NewEncoder",
            with_quirks(stack("layer", "NewLayer", s.layers, layer), {.norms_the_sum = true}));
}

/// Checkpoints call the classes New…, vLLM's registry GteNew….
Part gte_new(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const auto whole = [](Part part) { return unsplittable(std::move(part), {"NewLayer"}); };
  if (is_for(c, "NewModel")) return whole(body(c, s));
  Part encoder = body(c, s);
  if (is_for(c, "ForSequenceClassification"))
    encoder = std::move(encoder) + bert_pooler("New", s.hidden);
  return whole(in("new", "NewModel", std::move(encoder)) + task_head(c, s.hidden));
}

}  // namespace headroom::model::families::gte_new
