// Config keys of encoders and encoder-decoders.
#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

void bert(GgufKeys& k) {
  k.set("type_vocab_size", k.rows("token_types.weight"));
  k.set("max_position_embeddings", k.rows("position_embd.weight"));
  k.set("tie_word_embeddings", true);
}

/// Two thirds of the config's width are the feed-forward's.
void neo_bert(GgufKeys& k) {
  k.set("intermediate_size", (3 * k.number("feed_forward_length") + 1) / 2);
}

void nomic_bert_moe(GgufKeys& k) {
  rotary_bert(k);
  k.set("activation_function", "gelu");
  k.set("qkv_proj_bias", k.some_layer_has("attn_q.bias") || k.some_layer_has("attn_qkv.bias"));
  k.set("mlp_fc1_bias", k.some_layer_has("ffn_up.bias"));
  k.set("mlp_fc2_bias", k.some_layer_has("ffn_down.bias"));
  if (const Size every = k.number("moe_every_n_layers", 0); every > 0) {
    k.set("moe_every_n_layers", every);
    k.set("moe_top_k", k.number("expert_used_count"));
  }
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
