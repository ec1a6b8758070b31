// How a layer uses its modules, read off their names, classes and shapes: which norm stands where,
// what kind of attention and of feed-forward it has. What a forward pass runs is built from this
// alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "model/train/tape/execution.hpp"

namespace headroom::model {

/// How a norm computes, hence what it keeps. x̂: the normalised input.
enum class NormKind : std::uint8_t {
  layer,         ///< torch.nn.LayerNorm
  layer_fp32,    ///< the same on an fp32 copy, without weights (OLMo)
  layer_plus_1,  ///< its weight plus one (Nemotron)
  written_out,   ///< mean and deviation in Python, fp32 (Cohere)
  rms,           ///< w · x̂ in the input's type (Llama, T5 as the residual)
  rms_fp32,      ///< w · x̂ in fp32, then converted (OLMo 2, GPT-OSS)
  rms_raised,    ///< the same with an fp32 copy of w (Helium)
  rms_plus_1,    ///< x̂ · (1 + w) in fp32 (Gemma)
  rms_residual,  ///< the input is multiplied as it is, only its square is fp32 (T5)
  rms_late,      ///< converted, then weighted (Llama 4)
  rms_plain,     ///< without a weight
};
struct NormUse {
  NormKind kind = NormKind::rms;
  Size width = 0;
};

/// How rotary positions are put in.
enum class Rotation : std::uint8_t {
  none,
  added,         ///< q·cos + rotate(q)·sin: the result lies as q did
  concatenated,  ///< the rotated share beside the rest: a new tensor, by head
  widened,       ///< in fp32, then converted back
  halves,        ///< first and second half apart, then concatenated (GPT-OSS)
};

struct AttentionUse {
  Size hidden = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
  bool fused = false;  ///< queries, keys and values are views of one tensor
  std::optional<NormUse> query_norm, key_norm;
  bool norms_by_head = false;         ///< over each head, not over all of them
  bool norms_rotated = false;         ///< after the rotation (Hunyuan, Llama 4)
  bool norm_each_head_apart = false;  ///< a module for every head (StableLM 2 12B)
  Rotation rotation = Rotation::none;
  Size rotated = 0;              ///< dimensions
  bool rotated_in_fp32 = false;  ///< tables stay in fp32
  bool tables_by_token = false;  ///< positions are of each sequence apart (Qwen2-VL)
  bool own_tables = false;       ///< tables are spread anew in every layer (GLM, Helium)
  bool softmax_fp32 = true;
  double softcap = 0;
  bool sinks = false;          ///< a learned score beside the keys' (GPT-OSS)
  bool gathered = false;       ///< keys and values are spread to all heads (Falcon 40B)
  bool shared_key = false;     ///< one key for all heads, broadcast (Falcon 7B)
  bool always_masked = false;  ///< its kernel is always given a mask
  bool always_scores = false;  ///< no fused kernel: scores are always kept
  bool drops_probabilities = true;
  bool gated = false;          ///< its output is multiplied by a sigmoid of its input (Qwen3-Next)
  bool gate_in_query = false;  ///< which the query's matrix makes
  bool joined = false;         ///< by image, then put together (Qwen's vision towers)
  std::optional<NormUse> inner_norm{};  ///< before the output projection (BitNet)
  Size window = 0;
  // latent attention (DeepSeek): ranks of the compressed queries and keys; 0: not compressed
  Size query_rank = 0, key_rank = 0, rotated_key = 0;
  std::optional<NormUse> latent_norm;
  bool biased_scores = false;  ///< T5: a bias by distance that is trained, one for all sequences
  bool causal_mask = false;    ///< beside it, what may not be looked at
};

enum class Gating : std::uint8_t { none, separate, fused };
/// Activation functions by what they keep.
enum class ActivationKind : std::uint8_t {
  input,
  result,
  squared_relu,
  tanh_written_out,
  sigmoid_product,
  xielu,  ///< two branches with trained weights (Apertus)
};

enum class RouterKind : std::uint8_t {
  softmax_of_all,     ///< probabilities of all, the best are taken (Mixtral, Qwen)
  softmax_of_chosen,  ///< the best logits, then their softmax (GPT-OSS)
  softmax_of_raised,  ///< the same in fp32 (Granite)
  softmax_fp32,       ///< of all, the product in fp32 too (Ernie 4.5)
  sigmoid,            ///< product in fp32, corrected scores choose (DeepSeek-V3)
  sigmoid_as_is,      ///< product as the input is held (MiniMax-M2)
};
struct ExpertsUse {
  Size experts = 0, used = 0, inner = 0, shared_inner = 0;
  RouterKind router = RouterKind::softmax_of_all;
  bool normalised = true;     ///< weights of the chosen ones are divided by their sum
  bool converted = false;     ///< and turned into the logits' type
  bool shared_gate = false;   ///< the shared expert is scaled by a sigmoid of its own
  bool shared_fused = false;  ///< its gate and up are one matrix (Granite)
  bool all_tokens = false;    ///< every expert multiplies every token, scaled before (Llama 4)
  bool clamped = false;  ///< GPT-OSS: clamped, (up + 1) · gate · sigmoid(α gate), with biases
};
struct FeedForwardUse {
  Size hidden = 0, inner = 0;
  Gating gating = Gating::none;
  ActivationKind activation = ActivationKind::input;
  bool bias_added = false;   ///< the bias is added as a tensor of its own (Falcon)
  bool drops_inner = false;  ///< hidden dropout and a conversion between the matrices (T5)
  std::optional<NormUse> inner_norm{};  ///< before the last matrix (BitNet)
  std::optional<ExpertsUse> experts;
};

/// What stands where attention would, or beside it.
enum class MixerKind : std::uint8_t {
  mamba,              ///< arXiv:2312.00752, one fused function
  mamba_with_norms,   ///< Jamba: norms of step and states between the functions
  mamba2,             ///< arXiv:2405.21060
  delta_rule,         ///< gated: arXiv:2412.06464 (Qwen3-Next)
  short_convolution,  ///< LFM2
};
struct MixerUse {
  MixerKind kind = MixerKind::mamba;
  Size hidden = 0, inner = 0, state = 0, rank = 0;
  Size projected = 0, groups = 1;   ///< mamba2: rows of the first matrix
  Size heads = 0;                   ///< of values
  Size key_width = 0, key_dim = 0;  ///< delta rule: all keys, one head's
};

struct LayerUse {
  std::string class_name;
  std::string unknown;  ///< a module that is not understood, or a class; empty: all are
  std::optional<NormUse> before_attention, after_attention, before_feed_forward, after_feed_forward;
  std::optional<NormUse> before_cross_attention;
  bool norms_the_sum = false;  ///< BERT: the norm follows the residual's addition
  bool parallel = false;       ///< both halves read the layer's input
  bool drops_attention = false, drops_feed_forward = false;  ///< hidden dropout after each half
  bool scaled = false;  ///< both halves are multiplied by trained lengths (InternViT)
  std::optional<AttentionUse> attention;
  std::optional<AttentionUse> cross_attention;  ///< keys and values of the encoder
  std::optional<MixerUse> mixer;                ///< recurrent, or a convolution
  std::optional<FeedForwardUse> feed_forward;
};

/// Layer `i` of model.part.blocks.
LayerUse layer_use(const Model& model, const Execution& execution, Size i);

}  // namespace headroom::model
