// GPT-2 and its descendants: GPTBigCode (StarCoder), GPT-Neo, GPT-J and CodeGen.
#include <fmt/format.h>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::gpt {

struct Gpt {
  Size hidden, inner, layers, vocab, positions;
  Heads heads;
  std::string act;
};

/// The keys, each under both of its names.
Gpt gpt_of(const Config& c, std::string_view act) {
  const Size hidden = c.dim({"n_embd", "hidden_size"});
  const Size query = c.dim({"n_head", "num_heads", "num_attention_heads"});
  if (hidden % query != 0)
    c.fail("n_head", fmt::format("found {}, expected a divisor of {}", query, hidden));
  return {hidden,
          c.dim({"n_inner", "intermediate_size"}, 4 * hidden),
          c.dim({"n_layer", "num_layers", "num_hidden_layers"}),
          c.dim({"vocab_size"}),
          c.dim({"n_positions", "max_position_embeddings"}),
          {query, query, hidden / query},
          activation_class(c, {"activation_function"}, act)};
}

Part head(const Config& c, Tied tied, Bias bias = Bias::no) {
  return lm_head("transformer.wte.weight", c.dim({"vocab_size"}), c.dim({"n_embd", "hidden_size"}),
                 c.flag({"tie_word_embeddings"}, tied == Tied::yes), bias);
}

Part dropouts(std::initializer_list<std::string_view> names) {
  Part all;
  for (const auto name : names) all = std::move(all) + module(name, "Dropout");
  return all;
}

/// Source: transformers 5.23, models/gpt2/{configuration,modeling}_gpt2.py.
Part gpt2_trunk(const Config& c) {
  const Gpt s = gpt_of(c, "gelu_new");
  Part cross;
  if (c.flag({"add_cross_attention"}, false)) {
    Part p = conv1d("c_attn", s.hidden, 2 * s.hidden) + conv1d("q_attn", s.hidden, s.hidden) +
             conv1d("c_proj", s.hidden, s.hidden) + dropouts({"attn_dropout", "resid_dropout"});
    p.caches = {kv_cache(s.heads)};
    p.caches[0].kind = CacheKind::cross_attention;
    cross =
        in("crossattention", "GPT2Attention", std::move(p)) + layer_norm("ln_cross_attn", s.hidden);
  }
  const Part layers = stack("h", "GPT2Block", s.layers, [&] {
    Part attn = conv1d("c_attn", s.hidden, 3 * s.hidden) + conv1d("c_proj", s.hidden, s.hidden) +
                dropouts({"attn_dropout", "resid_dropout"});
    attn.caches = {kv_cache(s.heads)};
    return layer_norm("ln_1", s.hidden) + in("attn", "GPT2Attention", std::move(attn)) +
           layer_norm("ln_2", s.hidden) + cross +
           in("mlp", "GPT2MLP",
              conv1d("c_fc", s.hidden, s.inner) + conv1d("c_proj", s.inner, s.hidden) +
                  module("act", s.act) + dropouts({"dropout"}));
  });
  return with_quirks(
      unsplittable(embedding("wte", s.vocab, s.hidden) + embedding("wpe", s.positions, s.hidden) +
                       dropouts({"drop"}) + layers + layer_norm("ln_f", s.hidden),
                   {"GPT2Block"}),
      {.attention = {.rotation = Rotation::none, .softmax_fp32 = false}});
}
Part gpt2(const Config& c) {
  return in("transformer", "GPT2Model", gpt2_trunk(c)) + head(c, Tied::yes);
}

/// GPT-2 with one key-value head for all queries, and the causal mask as a buffer. Source:
/// transformers 5.23, models/gpt_bigcode/{configuration,modeling}_gpt_bigcode.py.
Part gpt_bigcode_trunk(const Config& c) {
  const Gpt s = gpt_of(c, "gelu_pytorch_tanh");
  if (c.flag({"add_cross_attention"}, false))
    c.fail("add_cross_attention", "found true, which is not described");
  const Heads heads{s.heads.query, c.flag({"multi_query"}, true) ? 1 : s.heads.query, s.heads.dim};
  const Part layers = stack("h", "GPTBigCodeBlock", s.layers, [&] {
    return layer_norm("ln_1", s.hidden) +
           in("attn", "GPTBigCodeAttention",
              fused_attention(s.hidden, heads, "c_attn", "c_proj", Bias::yes) +
                  dropouts({"resid_dropout"})) +
           layer_norm("ln_2", s.hidden) +
           in("mlp", "GPTBigCodeMLP",
              linear("c_fc", s.hidden, s.inner, Bias::yes) +
                  linear("c_proj", s.inner, s.hidden, Bias::yes) + module("act", s.act) +
                  dropouts({"dropout"}));
  });
  return with_quirks(unsplittable(buffer("bias", {s.positions, s.positions}, Element::boolean) +
                                      embedding("wte", s.vocab, s.hidden) +
                                      embedding("wpe", s.positions, s.hidden) + dropouts({"drop"}) +
                                      layers + layer_norm("ln_f", s.hidden),
                                  {"GPTBigCodeBlock"}),
                     {.attention = {.rotation = Rotation::none}});
}
Part gpt_bigcode(const Config& c) {
  return in("transformer", "GPTBigCodeModel", gpt_bigcode_trunk(c)) + head(c, Tied::yes);
}

/// Local layers mask all but window_size tokens. Their cache keeps every token, so they have no
/// window here. Source: transformers 5.23, models/gpt_neo/{configuration,modeling}_gpt_neo.py.
Part gpt_neo_trunk(const Config& c) {
  const Gpt s = gpt_of(c, "gelu_new");
  const Part layers = stack("h", "GPTNeoBlock", s.layers, [&] {
    Part attn = buffer("bias", {1, 1, s.positions, s.positions}, Element::boolean) +
                dropouts({"attn_dropout", "resid_dropout"}) + linear("k_proj", s.hidden, s.hidden) +
                linear("v_proj", s.hidden, s.hidden) + linear("q_proj", s.hidden, s.hidden) +
                linear("out_proj", s.hidden, s.hidden, Bias::yes);
    attn.caches = {kv_cache(s.heads)};
    return layer_norm("ln_1", s.hidden) +
           in("attn", "GPTNeoAttention", in("attention", "GPTNeoSelfAttention", std::move(attn))) +
           layer_norm("ln_2", s.hidden) +
           in("mlp", "GPTNeoMLP",
              linear("c_fc", s.hidden, s.inner, Bias::yes) +
                  linear("c_proj", s.inner, s.hidden, Bias::yes) + module("act", s.act) +
                  dropouts({"dropout"}));
  });
  return with_quirks(
      unsplittable(embedding("wte", s.vocab, s.hidden) + embedding("wpe", s.positions, s.hidden) +
                       dropouts({"drop"}) + layers + layer_norm("ln_f", s.hidden),
                   {"GPTNeoBlock"}),
      {.attention = {.rotation = Rotation::none, .scores_only = true}});
}
Part gpt_neo(const Config& c) {
  return in("transformer", "GPTNeoModel", gpt_neo_trunk(c)) + head(c, Tied::yes);
}

/// The sines of every position in one table.
Part sines(std::string_view class_name, const Gpt& s, const Config& c) {
  const Size rotated = c.dim_or_none({"rotary_dim"}, 64);
  return in("rotary_emb", class_name,
            buffer("embed_positions", {s.positions, rotated == 0 ? s.hidden : rotated}));
}

/// Attention and feed-forward run in parallel after one norm. Source: transformers 5.24,
/// models/gptj/{configuration,modeling}_gptj.py.
Part gptj_trunk(const Config& c) {
  const Gpt s = gpt_of(c, "gelu_new");
  const Part layers = stack("h", "GPTJBlock", s.layers, [&] {
    Part attn = linear("k_proj", s.hidden, s.hidden) + linear("v_proj", s.hidden, s.hidden) +
                linear("q_proj", s.hidden, s.hidden) + linear("out_proj", s.hidden, s.hidden) +
                dropouts({"resid_dropout"});
    attn.caches = {kv_cache(s.heads)};
    return layer_norm("ln_1", s.hidden) + in("attn", "GPTJAttention", std::move(attn)) +
           in("mlp", "GPTJMLP",
              linear("fc_in", s.hidden, s.inner, Bias::yes) +
                  linear("fc_out", s.inner, s.hidden, Bias::yes) + module("act", s.act) +
                  dropouts({"dropout"}));
  });
  return with_quirks(
      unsplittable(embedding("wte", s.vocab, s.hidden) + dropouts({"drop"}) + layers +
                       layer_norm("ln_f", s.hidden) + sines("GPTJRotaryEmbedding", s, c),
                   {"GPTJBlock"}),
      {.attention = {
           .rotation = Rotation::concatenated, .softmax_fp32 = false, .scores_only = true}});
}
Part gptj(const Config& c) {
  return in("transformer", "GPTJModel", gptj_trunk(c)) + head(c, Tied::no, Bias::yes);
}

/// GPT-J with one projection for queries, keys and values. Source: transformers 5.24,
/// models/codegen/{configuration,modeling}_codegen.py.
Part codegen_trunk(const Config& c) {
  const Gpt s = gpt_of(c, "gelu_new");
  const Part layers = stack("h", "CodeGenBlock", s.layers, [&] {
    Part attn = linear("out_proj", s.hidden, s.hidden) + dropouts({"resid_dropout"}) +
                linear("qkv_proj", s.hidden, 3 * s.hidden);
    attn.caches = {kv_cache(s.heads)};
    return layer_norm("ln_1", s.hidden) + in("attn", "CodeGenAttention", std::move(attn)) +
           in("mlp", "CodeGenMLP",
              linear("fc_in", s.hidden, s.inner, Bias::yes) +
                  linear("fc_out", s.inner, s.hidden, Bias::yes) + module("act", s.act) +
                  dropouts({"dropout"}));
  });
  return with_quirks(
      unsplittable(embedding("wte", s.vocab, s.hidden) + dropouts({"drop"}) + layers +
                       layer_norm("ln_f", s.hidden) + sines("CodeGenRotaryEmbedding", s, c),
                   {"CodeGenBlock"}),
      {.attention = {
           .rotation = Rotation::concatenated, .softmax_fp32 = false, .scores_only = true}});
}
Part codegen(const Config& c) {
  return in("transformer", "CodeGenModel", codegen_trunk(c)) + head(c, Tied::no, Bias::yes);
}

}  // namespace headroom::model::families::gpt
