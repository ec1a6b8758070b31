// Config keys of encoders and encoder-decoders.
#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

void bert(GgufKeys& k) {
  k.set("type_vocab_size", k.rows("token_types.weight"));
  k.set("max_position_embeddings", k.rows("position_embd.weight"));
  k.set("tie_word_embeddings", true);
}

void rotary_bert(GgufKeys& k) { k.set("type_vocab_size", k.rows("token_types.weight")); }

void t5(GgufKeys& k) {
  k.set("num_decoder_layers", k.number("decoder_block_count", k.layers()));
  k.set("relative_attention_num_buckets", k.number("attention.relative_buckets_count", 32));
  const bool gated = k.has_tensor("enc.blk.0.ffn_gate.weight");
  k.set("feed_forward_proj", gated ? "gated-gelu" : "relu");
  k.set("is_encoder_decoder", true);
}

void t5_encoder(GgufKeys& k) {
  k.set("relative_attention_num_buckets", k.number("attention.relative_buckets_count", 32));
  k.set("feed_forward_proj", k.has_tensor("enc.blk.0.ffn_gate.weight") ? "gated-gelu" : "relu");
}

bool has_own_positions(const GgufKeys& k) { return k.has_tensor("enc.blk.1.attn_rel_b.weight"); }

void gemma_embedding(GgufKeys& k) { k.set("use_bidirectional_attention", true); }

}  // namespace headroom::model::gguf
