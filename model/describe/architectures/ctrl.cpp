// The first generation: OpenAI's GPT and Salesforce's CTRL.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::ctrl {

/// Source: transformers 5.23, models/openai/{configuration,modeling}_openai.py.
Part openai_gpt_trunk(const Config& c) {
  const Size hidden = c.dim({"n_embd", "hidden_size"});
  const Size positions = c.dim({"n_positions", "max_position_embeddings"});
  const Size query = c.dim({"n_head", "num_attention_heads"});
  // "gelu" is the tanh approximation there, "swish" and "silu" the same.
  const std::string name = c.text({"afn"}, "gelu");
  const std::string act =
      name == "gelu" ? "NewGELUActivation" : activation_class(c, {"afn"}, "gelu");
  const Part layers = stack("h", "Block", c.dim({"n_layer", "num_hidden_layers"}), [&] {
    Part attn = buffer("bias", {1, 1, positions, positions}) +
                conv1d("c_attn", hidden, 3 * hidden) + conv1d("c_proj", hidden, hidden) +
                module("attn_dropout", "Dropout") + module("resid_dropout", "Dropout");
    attn.caches = {kv_cache({query, query, hidden / query})};
    return in("attn", "Attention", std::move(attn)) + layer_norm("ln_1", hidden) +
           in("mlp", "MLP",
              conv1d("c_fc", hidden, 4 * hidden) + conv1d("c_proj", 4 * hidden, hidden) +
                  module("act", act) + module("dropout", "Dropout")) +
           layer_norm("ln_2", hidden);
  });
  return buffer("position_ids", {positions}, Element::int64) +
         embedding("tokens_embed", c.dim({"vocab_size"}), hidden) +
         embedding("positions_embed", positions, hidden) + module("drop", "Dropout") + layers;
}
Part openai_gpt(const Config& c) {
  return in("transformer", "OpenAIGPTModel", openai_gpt_trunk(c)) +
         lm_head("transformer.tokens_embed.weight", c.dim({"vocab_size"}),
                 c.dim({"n_embd", "hidden_size"}), c.flag({"tie_word_embeddings"}, true));
}

/// Source: transformers 5.23, models/ctrl/{configuration,modeling}_ctrl.py.
Part ctrl_trunk(const Config& c) {
  const Size hidden = c.dim({"n_embd", "hidden_size"}), inner = c.dim({"dff"});
  const Size query = c.dim({"n_head", "num_attention_heads"});
  const auto square = [&](std::string_view name) {
    return linear(name, hidden, hidden, Bias::yes);
  };
  const Part layers = stack("h", "EncoderLayer", c.dim({"n_layer", "num_hidden_layers"}), [&] {
    Part attn = square("Wq") + square("Wk") + square("Wv") + square("dense");
    attn.caches = {kv_cache({query, query, hidden / query})};
    return in("multi_head_attention", "MultiHeadAttention", std::move(attn)) +
           in("ffn", "Sequential",
              linear("0", hidden, inner, Bias::yes) + module("1", "ReLU") +
                  linear("2", inner, hidden, Bias::yes)) +
           layer_norm("layernorm1", hidden) + layer_norm("layernorm2", hidden) +
           module("dropout1", "Dropout") + module("dropout2", "Dropout");
  });
  return buffer("pos_encoding", {c.dim({"n_positions", "max_position_embeddings"}), hidden}) +
         embedding("w", c.dim({"vocab_size"}), hidden) + module("dropout", "Dropout") + layers +
         layer_norm("layernorm", hidden);
}
Part ctrl(const Config& c) {
  return in("transformer", "CTRLModel", ctrl_trunk(c)) +
         lm_head("transformer.w.weight", c.dim({"vocab_size"}), c.dim({"n_embd", "hidden_size"}),
                 c.flag({"tie_word_embeddings"}, true), Bias::yes);
}

}  // namespace headroom::model::families::ctrl
