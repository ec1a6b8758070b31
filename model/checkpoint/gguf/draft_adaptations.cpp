// Config keys of heads that propose tokens for another model.
#include <boost/json.hpp>

#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

namespace json = boost::json;

/// Embeddings, head and their rows. A file without embeddings has the target's tokenizer.
static void own_vocabulary(GgufKeys& k) {
  const Size embedded = k.rows("token_embd.weight"), own = k.rows("output.weight");
  k.set("has_embed_tokens", embedded > 0);
  k.set("has_lm_head", own > 0);
  if (embedded == 0) k.set("vocab_size", k.tokens());
  if (own > 0) k.set("draft_vocab_size", own);
}

/// As many of the target's layers as the file lists.
static void target_layers(GgufKeys& k) {
  k.set("target_layer_ids", json::value_from(k.by_layer("target_layers")));
}

void eagle3(GgufKeys& k) {
  own_vocabulary(k);
  target_layers(k);
  k.set("target_hidden_size", k.number("target_hidden_size"));
  k.set("norm_before_fc", k.has_tensor("enc.output_norm.weight"));
}

void dflash(GgufKeys& k) {
  own_vocabulary(k);
  target_layers(k);
  k.set("add_swa_attention_sink_bias", k.some_layer_has("attn_sinks.weight"));
}

/// Layers without keys of their own. The text model's keys stand in a section.
void gemma4_assistant(GgufKeys& k) {
  gemma4(k);
  json::object text = k.config();
  text["num_kv_shared_layers"] = k.layers();
  k.set("text_config", text);
  k.set("backbone_hidden_size", k.number("embedding_length_out"));
}

}  // namespace headroom::model::gguf
