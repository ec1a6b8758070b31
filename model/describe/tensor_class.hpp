// The class of a matrix in its layer, by the last word of its module's name in transformers.
// Formulas, mixes of formats and splits over cards use the class and never read a name.
#pragma once

#include <string>
#include <string_view>

namespace headroom::model {

/// Classes that llama.cpp's rules and tensor parallelism distinguish.
enum class TensorClass {
  token_embedding,
  output,
  attention_q,
  attention_k,
  attention_v,
  attention_qkv,  ///< one matrix for all three
  attention_output,
  feed_forward_up,
  feed_forward_gate,
  feed_forward_down,
  other,
};

/// The class of a weight or of the module that owns it: "model.layers.0.self_attn.v_proj.weight"
/// is attention_v.
TensorClass tensor_class(std::string_view name);

/// A matrix of a feed-forward.
constexpr bool is_feed_forward(TensorClass kind) {
  return kind == TensorClass::feed_forward_up || kind == TensorClass::feed_forward_gate ||
         kind == TensorClass::feed_forward_down;
}

/// A module that tensor parallelism copies to every card: MLA's projections to a latent and the
/// indexer of sparse attention (vLLM 0.19 model_executor/models/deepseek_v2.py: ReplicatedLinear,
/// disable_tp).
bool is_replicated(std::string_view module);

/// MLA's matrix from the latent to the keys and values of each head.
bool expands_latent(std::string_view module);

/// The fused projection of a linear attention (gated delta rule). Its class is attention_v, but no
/// KV cache has its heads: cards divide it by key heads of its own.
bool is_linear_attention(std::string_view module);

/// A matrix of an expert that every token uses.
bool is_of_shared_expert(std::string_view module);

/// One matrix that holds both gate and up.
bool is_gate_and_up(std::string_view module);

/// A matrix of queries, keys or values alone, which engines put into one matrix with the others.
bool is_fused_by_engines(std::string_view module);

/// The name that a tensor shares with those that engines fuse it with: "...qkv.weight" for
/// "...q_proj.weight". Its own name where nothing is fused.
std::string fused_name(std::string_view tensor);

/// The projection to the vocabulary, where it is a tensor of its own.
bool is_output_head(std::string_view tensor);

/// A matrix that scores the experts of a layer.
bool is_router(std::string_view tensor);

/// The projection of Gemma 3n's embeddings for each layer, which llama.cpp does not quantise.
bool is_per_layer_projection(std::string_view tensor);

}  // namespace headroom::model
