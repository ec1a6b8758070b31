// ModernBERT: rotary positions, a gated feed-forward, and local attention in two of three layers.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::modernbert {

/// The kinds of layers. `layer_types` decides. Without it, every third layer is full, starting with
/// the first.
std::vector<std::string> local_layer_types(const Config& c, Size layers) {
  const Size every = c.dim({"global_attn_every_n_layers"}, 3);
  return layer_types(
      c, layers, [&](Size i) { return i % every == 0 ? "full_attention" : "sliding_attention"; });
}

Part modernbert_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size head_dim = hidden / c.dim({"num_attention_heads"});
  const Size layers = c.dim({"num_hidden_layers"});
  const auto types = local_layer_types(c, layers);
  const Bias norm_bias = c.bias({"norm_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const Bias attention_bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu");
  const std::string_view out_drop =
      c.number({"attention_dropout"}, 0.0) > 0.0 ? "Dropout" : "Identity";
  return in("embeddings", "ModernBertEmbeddings",
            embedding("tok_embeddings", c.dim({"vocab_size"}), hidden) +
                layer_norm("norm", hidden, norm_bias) + dropout("drop")) +
         stack("layers", "ModernBertEncoderLayer", layers,
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
         rotary_by_type(c, "ModernBertRotaryEmbedding", types, head_dim);
}

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

/// ModernBERT's layer as a decoder, with separate keys and values. `layer_types` decides which
/// layers have a window. Without it, every third layer has none. Source: transformers 5.23,
/// models/modernbert_decoder.
Part modernbert_decoder(const Config& c) {
  const std::string f = "ModernBertDecoder";
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size vocab = c.dim({"vocab_size"}), query = c.dim({"num_attention_heads"});
  const Heads heads{query, query, hidden / query};
  const Bias norm_bias = c.bias({"norm_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu");
  const Size layers = c.dim({"num_hidden_layers"});
  const auto types = local_layer_types(c, layers);
  // The decoder's window reaches back as far as ModernBERT's window reaches on each side.
  const Size window = c.dim({"local_attention"}, 128) / 2;
  Part body = in("embeddings", f + "Embeddings",
                 embedding("tok_embeddings", vocab, hidden) +
                     layer_norm("norm", hidden, norm_bias) + dropout("drop")) +
              stack("layers", f + "Layer", layers,
                    [&](Size i) {
                      Part attn = linear("q_proj", hidden, hidden, bias) +
                                  linear("k_proj", hidden, hidden, bias) +
                                  linear("v_proj", hidden, hidden, bias) +
                                  linear("Wo", hidden, hidden, bias) + dropout("out_drop");
                      attn.caches = {
                          kv_cache(heads, window_of(types[static_cast<std::size_t>(i)], window))};
                      return (i == 0 ? module("attn_norm", "Identity")
                                     : layer_norm("attn_norm", hidden, norm_bias)) +
                             in("attn", f + "Attention", std::move(attn)) +
                             layer_norm("mlp_norm", hidden, norm_bias) +
                             in("mlp", f + "MLP",
                                linear("Wi", hidden, 2 * inner, mlp_bias) + module("act", act) +
                                    dropout("drop") + linear("Wo", inner, hidden, mlp_bias));
                    }) +
              layer_norm("final_norm", hidden, norm_bias) +
              rotary_by_type(c, f + "RotaryEmbedding", types, heads.dim);
  body = unsplittable(std::move(body), {f + "Layer"});
  if (is_for(c, f + "Model")) return body;
  const Part head = linear("dense", hidden, hidden, c.bias({"classifier_bias"}, false)) +
                    module("act", activation_class(c, {"classifier_activation"}, "gelu")) +
                    layer_norm("norm", hidden, norm_bias);
  body = in("model", f + "Model", std::move(body));
  if (is_for(c, "ForSequenceClassification"))
    return std::move(body) + in("head", f + "PredictionHead", head) +
           linear("classifier", hidden, labels(c), c.bias({"classifier_bias"}, false)) +
           dropout("drop");
  body = std::move(body) + in("lm_head", f + "PredictionHead", head) +
         output_head("decoder", hidden, vocab, c.bias({"decoder_bias"}, true));
  if (!c.flag({"tie_word_embeddings"}, true)) return body;
  return tied(std::move(body), "decoder.weight", "model.embeddings.tok_embeddings.weight");
}

}  // namespace headroom::model::families::modernbert
