// What a layer is: which norms it has and where they stand, how its attention, its feed-forward and
// its mixer are built. `layer_spec` reads it off a description, so that nobody else has to read the
// names of modules and classes. What a config adds when the layer runs (dropout, soft caps) is not
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/describe/part.hpp"

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
struct NormSpec {
  NormKind kind = NormKind::rms;
  Size width = 0;
};

/// How rotary positions are applied.
enum class Rotation : std::uint8_t {
  none,
  added,         ///< q·cos + rotate(q)·sin: the result lies as q did
  concatenated,  ///< the rotated share beside the rest: a new tensor, by head
  widened,       ///< in fp32, then converted back
  halves,        ///< first and second half apart, then concatenated (GPT-OSS)
};

/// Attention as its modules show it. Widths are output rows of a projection; 0: there is none.
struct AttentionSpec {
  Size hidden = 0;  ///< input width; 0: no projection states it
  /// Heads and their width as the KV cache has them; 0: no cache, so the config says.
  Size heads = 0, kv_heads = 0, head_dim = 0;
  Size window = 0;
  Size query_width = 0;  ///< of a query projection, whatever its name
  Size key_width = 0;
  Size gated_query_width = 0;    ///< of a query projection that may also make a gate (Qwen3-Next)
  Size joined_width = 0;         ///< of one projection to all three in a vision tower
  bool fused = false;            ///< queries, keys and values are views of one tensor
  bool joined = false;           ///< by image, then put together (Qwen's vision towers)
  bool gate_projection = false;  ///< a matrix of its own makes the gate
  std::optional<NormSpec> query_norm{}, key_norm{};
  bool plain_head_norms = false;         ///< over each head, without a weight (Llama 4)
  bool norm_each_head_apart = false;     ///< a module for every head (StableLM 2 12B)
  std::optional<NormSpec> inner_norm{};  ///< before the output projection (BitNet)
  bool sinks = false;                    ///< a learned score beside the keys' (GPT-OSS)
  // latent attention (DeepSeek): widths of the compressed queries and keys; 0: not compressed
  bool latent = false;
  Size query_rank = 0, key_rank = 0, rotated_key = 0;
  Size latent_query_width = 0, output_width = 0;
  std::optional<NormSpec> latent_norm{};
  bool biased_scores = false;  ///< T5: a bias by distance that is trained, one for all sequences
  bool causal = false;         ///< it keeps a KV cache of its own tokens
  // what the family does otherwise than most
  std::optional<Rotation> rotation{};  ///< as the family states it, whatever tables there are
  bool rotated_in_fp32 = false;        ///< tables stay in fp32
  bool tables_by_token = false;        ///< positions are of each sequence apart (Qwen2-VL)
  bool own_tables = false;             ///< tables are spread anew in every layer (GLM, Helium)
  bool norms_rotated = false;          ///< norms after the rotation (Hunyuan, Llama 4)
  bool softmax_fp32 = true;
  bool scores_only = false;       ///< no fused kernel: scores are always kept
  bool masks_images = false;      ///< tokens of an image see each other: an explicit mask
  bool always_masked = false;     ///< its kernel is always given a mask
  bool spreads_keys = false;      ///< keys are spread to all heads before the kernel (Falcon)
  bool drops_only_alibi = false;  ///< probabilities are dropped only with linear positions (Falcon)
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

struct ExpertsSpec {
  Size experts = 0, used = 0, inner = 0, shared_inner = 0;
  RouterKind router = RouterKind::softmax_of_all;
  bool converted = false;     ///< weights of the chosen ones are turned into the logits' type
  bool shared_gate = false;   ///< the shared expert is scaled by a sigmoid of its own
  bool shared_fused = false;  ///< its gate and up are one matrix (Granite)
  bool all_tokens = false;    ///< every expert multiplies every token, scaled before (Llama 4)
  bool clamped = false;  ///< GPT-OSS: clamped, (up + 1) · gate · sigmoid(α gate), with biases
};

struct FeedForwardSpec {
  Size hidden = 0, inner = 0;  ///< `hidden` 0: the model's
  Gating gating = Gating::none;
  ActivationKind activation = ActivationKind::input;
  bool bias_added = false;   ///< the bias is added as a tensor of its own (Falcon)
  bool drops_inner = false;  ///< hidden dropout and a conversion between the matrices (T5)
  std::optional<NormSpec> inner_norm{};  ///< before the last matrix (BitNet)
  std::optional<ExpertsSpec> experts{};
};

/// What stands where attention would, or beside it.
enum class MixerKind : std::uint8_t {
  mamba,              ///< arXiv:2312.00752, one fused function
  mamba_with_norms,   ///< Jamba: norms of step and states between the functions
  mamba2,             ///< arXiv:2405.21060
  delta_rule,         ///< gated: arXiv:2412.06464 (Qwen3-Next)
  short_convolution,  ///< LFM2
};
struct MixerSpec {
  MixerKind kind = MixerKind::mamba;
  Size inner = 0, state = 0, rank = 0;
  Size projected = 0, groups = 1;   ///< mamba2: rows of the first matrix
  Size heads = 0;                   ///< of values
  Size key_width = 0, key_dim = 0;  ///< delta rule: all keys, one head's
};

/// Whether attention and feed-forward read the same residual.
enum class Parallel : std::uint8_t {
  no,
  yes,
  by_config,  ///< as the config says (GPT-NeoX, Falcon)
};

struct LayerSpec {
  std::string class_name;  ///< for messages
  std::string unknown;     ///< a module that is not understood, or a class; empty: all are
  std::optional<NormSpec> before_attention, after_attention, before_feed_forward,
      after_feed_forward;
  std::optional<NormSpec> before_cross_attention;
  bool norms_the_sum = false;  ///< BERT: the norm follows the residual's addition
  Parallel parallel = Parallel::no;
  bool drops_attention = true;  ///< hidden dropout follows attention (not in StableLM)
  bool scaled = false;          ///< both halves are multiplied by trained lengths (InternViT)
  std::optional<AttentionSpec> attention;
  std::optional<AttentionSpec> cross_attention;  ///< keys and values of the encoder
  std::optional<MixerSpec> mixer;                ///< recurrent, or a convolution
  std::optional<FeedForwardSpec> feed_forward;
};

/// Layer `i` of part.blocks.
LayerSpec layer_spec(const Part& part, Size i);

// ---- modules outside layers ---------------------------------------------------------------------

/// How the norm `module` computes.
NormKind norm_kind(const Module& module);
/// An activation of the ReLU family: GELU, SiLU and the like.
bool is_linear_unit(const Module& module);
/// What turns a sequence into one vector, which a language model's loss does not run through.
bool is_pooler(const Module& module);
/// What joins a tower to the language model, by its path.
bool is_projector(std::string_view path);
/// What merges patches at the end of a tower, by its path.
bool is_merger(std::string_view path);
/// An embedding of the one token that stands for a whole image.
bool is_class_token(const Tensor& tensor);
/// Frequencies of rotary positions.
bool is_rotary_table(const Tensor& tensor);
/// Frequencies as they were before they were scaled: a second copy.
bool is_unscaled_rotary_table(const Tensor& tensor);
/// Learned positions that are looked up by numbers made for it (GPT-2).
bool is_position_table(const Tensor& tensor);
/// A trained bias on scores by distance (T5).
bool is_distance_bias(const Tensor& tensor);
/// Dropout of the inputs and outputs of a whole stack, as a module of its own (T5).
bool drops_stack(const Module& module);

}  // namespace headroom::model
