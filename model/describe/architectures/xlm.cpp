// XLM (arXiv:1901.07291) and FlauBERT (arXiv:1912.05372): separate lists hold the attentions, the
// feed-forwards and their norms.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::xlm {

Part norms(std::string_view name, Size layers, Size dim) {
  Part all;
  for (Size i = 0; i < layers; ++i) all = std::move(all) + layer_norm(std::to_string(i), dim);
  return in(name, "ModuleList", std::move(all));
}

/// Source: transformers 5.23, models/xlm, models/flaubert. With the head, each attention caches its
/// keys and values.
Part xlm(const Config& c) {
  const std::string f = c.class_name().starts_with("Flaubert") ? "Flaubert" : "XLM";
  const Size dim = c.dim({"emb_dim"}), layers = c.dim({"n_layers"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"n_heads"});
  const Size positions = c.dim({"max_position_embeddings"}), languages = c.dim({"n_langs"}, 1);
  if (layers > most_layers) c.fail("n_layers", "more layers than are supported");
  if (c.flag({"asm"}, false)) c.fail("asm", "an adaptive softmax is not described");
  if (!c.flag({"is_encoder"}, true)) c.fail("is_encoder", "found false, expected true");
  Part ffn = linear("lin1", dim, 4 * dim, Bias::yes) + linear("lin2", 4 * dim, dim, Bias::yes);
  if (c.flag({"gelu_activation"}, true)) ffn = std::move(ffn) + module("act", "GELUActivation");
  Part body = embedding("position_embeddings", positions, dim);
  if (languages > 1 && c.flag({"use_lang_emb"}, true))
    body = std::move(body) + embedding("lang_embeddings", languages, dim);
  body = std::move(body) + embedding("embeddings", vocab, dim) + layer_norm("layer_norm_emb", dim) +
         stack("attentions", "MultiHeadAttention", layers,
               [&] {
                 Part p =
                     linear("q_lin", dim, dim, Bias::yes) + linear("k_lin", dim, dim, Bias::yes) +
                     linear("v_lin", dim, dim, Bias::yes) + linear("out_lin", dim, dim, Bias::yes);
                 if (!is_for(c, f + "Model")) p.caches = {kv_cache({heads, heads, dim / heads})};
                 return p;
               }) +
         norms("layer_norm1", layers, dim) +
         stack("ffns", "TransformerFFN", layers, [&] { return ffn; }) +
         norms("layer_norm2", layers, dim) + position_ids(positions);
  if (is_for(c, f + "Model")) return body;
  Part whole = in("transformer", f + "Model", std::move(body)) +
               in("pred_layer", f + "PredLayer", output_head("proj", dim, vocab, Bias::yes));
  if (!c.flag({"tie_word_embeddings"}, true)) return whole;
  return tied(std::move(whole), "pred_layer.proj.weight", "transformer.embeddings.weight");
}

}  // namespace headroom::model::families::xlm
