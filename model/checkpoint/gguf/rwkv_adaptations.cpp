// Config keys of RWKV's versions. Files have no number of heads, only their width.
#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

/// Heads of a recurrence that is as wide as the model.
static void heads_by_width(GgufKeys& k) {
  const Size head = k.number("wkv.head_size"), hidden = k.number("embedding_length");
  k.set({"head_size", "head_dim"}, head);
  if (head == 0) return;
  k.set("num_attention_heads", hidden / head);
  if (k.number("attention.head_count_kv", 0) == 0) k.set("num_key_value_heads", hidden / head);
}

void rwkv6(GgufKeys& k) {
  heads_by_width(k);
  k.set("lora_rank_tokenshift", k.number("time_mix_extra_dim"));
  k.set("lora_rank_decay", k.number("time_decay_extra_dim"));
}

void rwkv6qwen2(GgufKeys& k) {
  rwkv6(k);
  k.set("attention_bias", k.some_layer_has("time_mix_key.bias"));
}

void rwkv7(GgufKeys& k) {
  heads_by_width(k);
  k.set("decay_low_rank_dim", k.number("attention.decay_lora_rank"));
  k.set("a_low_rank_dim", k.number("attention.iclr_lora_rank"));
  k.set("v_low_rank_dim", k.number("attention.value_residual_mix_lora_rank"));
  k.set("gate_low_rank_dim", k.number("attention.gate_lora_rank"));
}

void rwkv_hybrid(GgufKeys& k) {
  heads_by_width(k);
  k.set("wkv_has_gate", k.some_layer_has("time_mix_g1.weight"));
  k.set("wkv_has_group_norm", k.some_layer_has("time_mix_ln.weight"));
}

}  // namespace headroom::model::gguf
