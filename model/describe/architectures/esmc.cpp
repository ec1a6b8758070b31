// Encoders with Llama's layer but other norms: ESM C (proteins) and UltraBERT.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::esmc {

/// Attention of an encoder, which needs no KV cache.
Part uncached(Part part) {
  part.caches.clear();
  return part;
}

Part bare_norm(std::string_view name, std::string_view class_name, Size dim, Bias bias) {
  Part p = tensor("weight", {dim}, Role::norm);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {dim}, Role::norm);
  return in(name, class_name, std::move(p));
}

/// Source: transformers 5.23, models/esmc/modeling_esmc.py.
Part esmc(const Config& c) {
  const Classes k{"Esmc"};
  const Common s = common_of(c);
  const Size vocab = c.dim({"vocab_size"});
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string norm = k("LayerNorm");
  Part body = embedding("embed_tokens", vocab, s.hidden) +
              rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim)) +
              stack("layers", k("Layer"), s.layers,
                    [&] {
                      return in("self_attn", k("Attention"),
                                uncached(attention(s.hidden, s.heads, bias, bias)) +
                                    bare_norm("q_norm", norm, s.hidden, Bias::no) +
                                    bare_norm("k_norm", norm, s.hidden, Bias::no)) +
                             dense_mlp(c, k, c.bias({"mlp_bias"}, false)) +
                             bare_norm("input_layernorm", norm, s.hidden, Bias::yes) +
                             bare_norm("post_attention_layernorm", norm, s.hidden, Bias::yes);
                    }) +
              bare_norm("norm", norm, s.hidden, Bias::no);
  const auto whole = [&](Part part) { return unsplittable(std::move(part), {k("Layer")}); };
  if (is_for(c, "EsmcModel")) return whole(std::move(body));
  Part head;
  if (is_for(c, "ForMaskedLM"))
    head = in("lm_head", k("MaskedLMHead"),
              linear("dense", s.hidden, s.hidden, Bias::yes) + layer_norm("layer_norm", s.hidden) +
                  output_head("decoder", s.hidden, vocab, Bias::yes));
  else if (is_for(c, "ForSequenceClassification"))
    head = classification_head(k("ClassificationHead"), s.hidden, labels(c));
  else if (is_for(c, "ForTokenClassification"))
    head = dropout() + linear("score", s.hidden, labels(c), Bias::yes);
  else
    head = task_head(c, s.hidden);
  return whole(in("esmc", k("Model"), std::move(body)) + std::move(head));
}

/// Source: transformers 5.23, models/ultrabert/modeling_ultrabert.py.
Part ultrabert(const Config& c) {
  const Classes k{"Ultrabert"};
  const Common s = common_of(c);
  const Size vocab = c.dim({"vocab_size"}), narrow = c.dim({"prediction_head_size"}, 768);
  const Bias bias = c.bias({"attention_bias"}, false);
  const auto types = layer_types(c, s.layers, [](Size i) {
    return (i + 1) % 3 == 0 ? "full_attention" : "sliding_attention";
  });
  Part body =
      trunk(c,
            Trunk{"Ultrabert", rms_norm("norm", k("RMSNorm"), s.hidden),
                  rotary_by_kind(c, k("RotaryEmbedding"), kinds_of(types), s.heads.dim,
                                 [](const std::string&) { return 1.0; })},
            [&] {
              return decoder_layer(k, s.hidden, uncached(attention(s.hidden, s.heads, bias, bias)),
                                   dense_mlp(c, k, c.bias({"mlp_bias"}, false)));
            });
  if (is_for(c, "UltrabertModel")) return body;
  body = in("model", k("Model"), std::move(body));
  if (!is_for(c, "ForMaskedLM"))
    return std::move(body) + module("head", "Identity") + dropout("drop") +
           linear("classifier", s.hidden, labels(c), Bias::yes);
  body = std::move(body) +
         in("head", k("PredictionHead"),
            linear("linear1", s.hidden, narrow) + linear("linear2", narrow, s.hidden) +
                module("act_fn", "GELUTanh") + output_head("decoder", s.hidden, vocab)) +
         module("decoder", "Identity");
  if (!c.flag({"tie_word_embeddings"}, false)) return body;
  return tied(std::move(body), "head.decoder.weight", "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::esmc
