// ModernBERT: rotary positions, gated feed-forward, and local attention in two layers of three.
#include "model/architectures/composition.hpp"
#include "model/architectures/decoder.hpp"
#include "model/architectures/encoder_families.hpp"
#include "model/architectures/words.hpp"

namespace headroom::model::families {

namespace {

Part modernbert_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size frequencies = hidden / c.dim({"num_attention_heads"}) / 2;
  const Bias norm_bias = c.bias({"norm_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const Bias attention_bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu");
  const std::string_view out_drop =
      c.number({"attention_dropout"}, 0.0) > 0.0 ? "Dropout" : "Identity";
  return in("embeddings", "ModernBertEmbeddings",
            embedding("tok_embeddings", c.dim({"vocab_size"}), hidden) +
                layer_norm("norm", hidden, norm_bias) + dropout("drop")) +
         stack("layers", "ModernBertEncoderLayer", c.dim({"num_hidden_layers"}),
               [&](Size i) {
                 return (i == 0 ? module("attn_norm", "Identity")
                                : layer_norm("attn_norm", hidden, norm_bias)) +
                        in("attn", "ModernBertAttention",
                           linear("Wqkv", hidden, 3 * hidden, attention_bias) +
                               linear("Wo", hidden, hidden, attention_bias) +
                               module("out_drop", out_drop)) +
                        layer_norm("mlp_norm", hidden, norm_bias) +
                        in("mlp", "ModernBertMLP",
                           linear("Wi", hidden, 2 * inner, mlp_bias) + module("act", act) +
                               dropout("drop") + linear("Wo", inner, hidden, mlp_bias));
               }) +
         layer_norm("final_norm", hidden, norm_bias) +
         in("rotary_emb", "ModernBertRotaryEmbedding",
            buffer("full_attention_inv_freq", {frequencies}) +
                buffer("full_attention_original_inv_freq", {frequencies}) +
                buffer("sliding_attention_inv_freq", {frequencies}) +
                buffer("sliding_attention_original_inv_freq", {frequencies}));
}

}  // namespace

/// Source: transformers 5.23, models/modernbert/modeling_modernbert.py.
Part modernbert(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const auto whole = [](Part part) {
    return unsplittable(std::move(part), {"ModernBertEmbeddings", "ModernBertEncoderLayer"});
  };
  if (is_for(c, "ModernBertModel")) return whole(modernbert_body(c));
  Part p = whole(in("model", "ModernBertModel", modernbert_body(c)) +
                 in("head", "ModernBertPredictionHead",
                    linear("dense", hidden, hidden, c.bias({"classifier_bias"}, false)) +
                        module("act", activation_class(c, {"classifier_activation"}, "gelu")) +
                        layer_norm("norm", hidden, c.bias({"norm_bias"}, false))));
  if (!is_for(c, "ForMaskedLM"))
    return std::move(p) + dropout("drop") +
           linear("classifier", hidden, is_for(c, "ForMultipleChoice") ? 1 : labels(c), Bias::yes);
  p = std::move(p) + output_head("decoder", hidden, vocab, c.bias({"decoder_bias"}, true));
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "decoder.weight", "model.embeddings.tok_embeddings.weight");
}

}  // namespace headroom::model::families
