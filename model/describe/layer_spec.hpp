// A layer as its modules show it: its norms, attention, feed-forward and mixer. `layer_spec` reads
// it off a description, so that no other code reads names of modules and classes. Dropout and soft
// caps come from the config and are not part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

struct NormSpec {
  NormKind kind = NormKind::rms;
  Size width = 0;
};

/// Attention to one shared key a token, and to compressed entries (DeepSeek-V4). Its queries have a
/// low rank, and its output projection two parts.
struct CompressedSpec {
  Size heads = 0, dim = 0, query_rank = 0, rotated = 0;
  Size group_width = 0, output_rank = 0;  ///< output: inputs of one group, outputs of all
  Size rate = 0;                          ///< tokens of an entry; 0: the window alone
  Size width = 0;  ///< elements for entries of a token: twice `dim` where they overlap
};

/// Attention as its modules show it. Widths are output rows of a projection; 0: there is none.
struct AttentionSpec : AttentionQuirks {
  Size hidden = 0;  ///< input width; 0: no projection states it
  Size result = 0;  ///< width of its result; 0: as its input
  /// Heads and their width as the KV cache has them; 0: no cache, so the config says.
  Size heads = 0, kv_heads = 0, head_dim = 0;
  Size window = 0;
  Size query_width = 0;  ///< width of a query projection, whatever its name
  Size key_width = 0;
  Size gated_query_width = 0;    ///< width of a query projection that may also make a gate
                                 ///< (Qwen3-Next)
  Size joined_width = 0;         ///< width of one projection to all three in a vision tower
  bool fused = false;            ///< queries, keys and values are views of one tensor
  bool joined = false;           ///< by image, then put together (Qwen's vision towers)
  Size adapter_rank = 0;         ///< low-rank additions to all three (Zamba2); 0: none
  bool gate_projection = false;  ///< a matrix of its own makes the gate
  Size gate_width = 0;           ///< width of that gate; 0: as wide as the result of all heads
  bool values_are_keys = false;  ///< no matrix makes values: they are the keys before their norm
  bool reuses_keys = false;      ///< keys and values of an earlier layer (Gemma 4)
  std::optional<NormSpec> query_norm{}, key_norm{}, value_norm{};
  bool plain_head_norms = false;         ///< over each head, without a weight (Llama 4)
  bool norm_each_head_apart = false;     ///< a module for every head (StableLM 2 12B)
  std::optional<NormSpec> inner_norm{};  ///< before the output projection (BitNet)
  bool sinks = false;                    ///< a learned score in addition to the keys' (GPT-OSS)
  // latent attention (DeepSeek): widths of the compressed queries and keys; 0: not compressed
  bool latent = false;
  Size query_rank = 0, key_rank = 0, rotated_key = 0;
  Size latent_query_width = 0, output_width = 0;
  std::optional<NormSpec> latent_norm{};
  std::optional<CompressedSpec> compressed{};
  Size distances = 0;  ///< rows of a table that scores are also made with (DeBERTa); 0: none
  bool query_distances = false, key_distances = false;  ///< … with queries, with keys
  bool norms_distances = false;                         ///< … the table is normed first
  bool biased_scores = false;  ///< T5: a bias by distance that is trained, one for all sequences
  bool causal = false;         ///< it keeps a KV cache of its own tokens
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
  situ,   ///< b tanh(gate / b) · sigmoid(gate) (Kimi K3), with the other operand in fp32
};

struct ExpertsSpec {
  Size experts = 0, used = 0, inner = 0, shared_inner = 0;
  RouterQuirks router{};
  bool gated = true;           ///< false: one matrix before the activation (Nemotron-H)
  bool scaled_router = false;  ///< its input is normed and multiplied by trained lengths (Gemma 4)
  Size latent = 0;             ///< width that experts read and write; 0: the residual's
  std::optional<NormSpec> latent_norm{};  ///< their result there is normed (Kimi K3)
  Size idle = 0;                   ///< further experts that return their input (LongCat-Flash)
  bool reads_layer_input = false;  ///< its router reads the layer's input (SmallThinker)
  bool shared_gate = false;        ///< the shared expert is scaled by a sigmoid of its own
  bool shared_fused = false;       ///< its gate and up are one matrix (Granite)
  bool clamped = false;  ///< GPT-OSS: clamped, (up + 1) · gate · sigmoid(α gate), with biases
};

struct FeedForwardSpec {
  Size hidden = 0, inner = 0;  ///< `hidden` 0: the model's
  Gating gating = Gating::none;
  ActivationKind activation = ActivationKind::input;
  bool one_matrix = false;   ///< a matrix in place of it (Llama-Nemotron)
  bool clamped = false;      ///< gate and up are clamped first
  bool bias_added = false;   ///< the bias is added as a tensor of its own (Falcon)
  bool bends_up = false;     ///< SiTU: a tanh of the other operand too
  bool drops_inner = false;  ///< hidden dropout and a conversion between the matrices (T5)
  Size adapter_rank = 0;     ///< low-rank addition to gate and up (Zamba2); 0: none
  bool shifted = false;      ///< it reads each token and the one before (RWKV)
  std::optional<NormSpec> inner_norm{};  ///< before the last matrix (BitNet)
  std::optional<ExpertsSpec> experts{};
};

/// Mixers that replace attention or run next to it.
enum class MixerKind : std::uint8_t {
  mamba,              ///< arXiv:2312.00752, one fused function
  mamba_with_norms,   ///< Jamba: norms of step and states between the functions
  mamba2,             ///< arXiv:2405.21060
  delta_rule,         ///< gated: arXiv:2412.06464 (Qwen3-Next)
  kimi_delta_rule,    ///< with a gate for each channel: arXiv:2510.26692
  lightning,          ///< arXiv:2405.17381 (MiniMax-01)
  short_convolution,  ///< LFM2
  one_matrix,         ///< a matrix in place of attention (Llama-Nemotron)
  rwkv,               ///< arXiv:2305.13048
};
struct MixerSpec : MixerQuirks {
  MixerKind kind = MixerKind::mamba;
  Size inner = 0, state = 0, rank = 0;  ///< delta rule: of the decay's gate; 0: one matrix
  Size gate_rank = 0;                   ///< delta rule: of the output's gate; 0: one matrix
  Size projected = 0, groups = 1;       ///< mamba2: rows of the first matrix
  Size heads = 0;                       ///< heads of values
  Size key_width = 0, key_dim = 0;      ///< delta rule: all keys, one head's
  bool joined = false;                  ///< delta rule: one matrix makes the output's gate too
};

/// Input of experts next to a dense feed-forward.
enum class ExpertsRead : std::uint8_t {
  residual,     ///< the residual, as their router does (Gemma 4)
  layer_input,  ///< the layer's input, normed (Arctic)
  normed,       ///< the dense feed-forward's (Grok-2, LongCat-Flash)
};
struct ParallelExperts {
  FeedForwardSpec experts;
  ExpertsRead reads = ExpertsRead::residual;
  std::optional<NormSpec> before, after, after_dense;
};

/// Streams of residuals that are joined into the input of attention and of the feed-forward.
struct StreamsSpec {
  StreamKind kind = StreamKind::balanced;
  Size count = 1, hidden = 0;
  Size rank = 0;         ///< gated: of the gate
  Size steps = 0;        ///< balanced: of the weights
  bool weighed = true;   ///< false: the mean of all (the end of GLM-5-Next)
  bool in_fp32 = false;  ///< balanced: its matrix is held so
  NormKind norm = NormKind::rms;
};

/// Embeddings of the last few tokens together, added to all streams (Qwen4-Exp).
struct HashedSpec {
  Size heads = 0, width = 0;
  Size earlier = 0;  ///< inputs of the convolution before the first token
  Size ngram = 0;    ///< tokens that are hashed together
};

/// A projection of an embedding that each layer has of its own (Gemma 3n, Gemma 4).
struct LayerInputSpec {
  Size width = 0;
  ActivationKind activation = ActivationKind::input;
  std::optional<NormSpec> after;
};

struct LayerSpec {
  std::string class_name;  ///< for messages
  std::string unknown;     ///< a module that is not understood, or a class; empty: all are
  bool skipped = false;    ///< it has no weights: its result is its input (Llama-Nemotron)
  std::optional<NormSpec> before_attention, after_attention, before_feed_forward,
      after_feed_forward;
  std::optional<NormSpec> before_cross_attention;
  std::optional<NormSpec> before_layer;  ///< the residual itself is normed (RWKV's first layer)
  bool norms_the_sum = false;            ///< BERT: the norm follows the residual's addition
  /// Its halves are a block without residuals: attention reads the residual and the embedding side
  /// by side, a matrix ends it (Zamba).
  bool chained = false;
  Size residuals_before = 0, residuals_after = 0;  ///< earlier ones, mixed before each half
  Parallel parallel = Parallel::no;
  bool drops_attention = true;  ///< hidden dropout follows attention (not in StableLM)
  bool reads_images_alone =
      false;            ///< it attends to images, and text without any skips it (Mllama)
  bool scaled = false;  ///< both halves are multiplied by trained lengths (InternViT)
  std::optional<AttentionSpec> attention;
  std::optional<AttentionSpec> cross_attention;  ///< keys and values of the encoder
  std::optional<MixerSpec> mixer;                ///< recurrent, or a convolution
  std::optional<FeedForwardSpec> feed_forward;
  std::optional<ParallelExperts> parallel_experts;
  std::optional<LayerInputSpec> layer_input;
  std::optional<StreamsSpec> streams;  ///< none: one residual
  std::optional<HashedSpec> hashed;
  std::vector<LayerSpec> then;  ///< parts that follow in the same layer (LongCat-Flash, Zamba)
};

/// How streams of width `hidden` are joined behind the last layer.
std::optional<StreamsSpec> streams_end(const Part& part, Size hidden);

/// The projection to the inputs of all layers, in front of them; widths of 0: there is none.
struct LayerInputs {
  Size all = 0, of_layer = 0;
  NormKind norm = NormKind::rms;
};
LayerInputs layer_inputs(const Part& part);

/// Layer `i` of part.blocks.
LayerSpec layer_spec(const Part& part, Size i);

// ---- modules outside layers ---------------------------------------------------------------------

/// How the norm `module` computes: as it is described, else as torch's own of that name.
NormKind norm_kind(const Module& module);
/// An activation of the ReLU family: GELU, SiLU and the like.
bool is_linear_unit(const Module& module);
/// A module that pools a sequence into one vector. The loss of a language model does not use it.
bool is_pooler(const Module& module);
/// A norm of the residuals of all blocks of layers, behind the last one (Kimi K3).
bool is_norm_of_residuals(const Module& module);
/// A norm of a table of distances (DeBERTa).
bool is_norm_of_distances(const Module& module);
/// A module between a tower and the language model, by its path.
bool is_projector(std::string_view path);
/// A module that merges patches at the end of a tower, by its path.
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
