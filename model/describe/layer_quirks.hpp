// Differences of a family's layers that their tensors do not show: how a norm computes, how
// rotations are applied, how a router weighs experts. The family's file states them. Read from the
// modeling files of transformers 5.23.
#pragma once

#include <cstdint>
#include <optional>

namespace headroom::model {

/// How a norm computes, hence what it keeps. x̂: the normalised input.
enum class NormKind : std::uint8_t {
  layer,              ///< torch.nn.LayerNorm
  layer_fp32,         ///< as above on an fp32 copy, without weights (OLMo)
  layer_plus_1,       ///< its weight plus one (Nemotron)
  written_out,        ///< mean and deviation in Python, fp32 (Cohere)
  rms,                ///< w · x̂ in the input's type (Llama, T5 as the residual)
  rms_fp32,           ///< w · x̂ in fp32, then converted (OLMo 2, GPT-OSS)
  rms_raised,         ///< as above with an fp32 copy of w (Helium)
  rms_raised_result,  ///< as above, and the result stays in fp32 (Kimi Linear)
  rms_plus_1,         ///< x̂ · (1 + w) in fp32 (Gemma)
  rms_residual,       ///< the input is multiplied as it is, only its square is fp32 (T5)
  rms_late,           ///< converted, then weighted (Llama 4)
  rms_plain,          ///< without a weight
  rms_factor,         ///< without a weight: the input as it is times a factor of its type
};

/// How rotary positions are applied.
enum class Rotation : std::uint8_t {
  none,
  added,         ///< q·cos + rotate(q)·sin: the result lies as q did
  concatenated,  ///< the rotated share and the rest in a new tensor, by head
  widened,       ///< in fp32, then converted back
  halves,        ///< first and second half separately, then concatenated (GPT-OSS)
};

enum class RouterKind : std::uint8_t {
  softmax_of_all,     ///< probabilities of all, the best are taken (Mixtral, Qwen)
  softmax_of_chosen,  ///< the best logits, then their softmax (GPT-OSS)
  softmax_of_raised,  ///< as above in fp32 (Granite)
  softmax_fp32,       ///< softmax over all, with the product in fp32 too (Ernie 4.5)
  sigmoid,            ///< product in fp32, corrected scores choose (DeepSeek-V3)
  sigmoid_as_is,      ///< product as the input is held (MiniMax-M2)
  softmax_as_is,      ///< softmax over all in the input's type (DBRX)
  root_softplus,      ///< square root of a softplus in the input's type (DeepSeek-V4)
};

/// Do attention and feed-forward read the same residual?
enum class Parallel : std::uint8_t {
  no,
  yes,
  by_config,  ///< as the config says (GPT-NeoX, Falcon)
};

struct AttentionQuirks {
  /// As the family states it; none stated: `added` where its model has rotary tables.
  std::optional<Rotation> rotation{};
  bool rotated_in_fp32 = false;  ///< tables stay in fp32
  bool own_tables = false;       ///< tables are spread anew in every layer (GLM, Helium)
  bool tables_by_token = false;  ///< each sequence has its own positions (Qwen2-VL)
  bool norms_rotated = false;    ///< norms after the rotation (Hunyuan, Llama 4)
  bool softmax_fp32 = true;
  bool scores_only = false;       ///< no fused kernel: scores are always kept
  bool no_flash_package = false;  ///< transformers' class has no kernel of flash-attn
  bool masks_images = false;      ///< tokens of an image see each other: an explicit mask
  bool always_masked = false;     ///< its kernel is always given a mask
  bool spreads_keys = false;      ///< keys are spread to all heads before the kernel (Falcon)
  bool chooses_keys = false;      ///< an indexer without gradients chooses keys, as a mask
                                  ///< (DeepSeek-V3.2)
  bool softplus_gate = false;     ///< its gate is a softplus in fp32 (Laguna); else a sigmoid
  bool gate_in_fp32 = false;      ///< its sigmoid gate is made in fp32 (Ling 3)
  bool drops_only_alibi = false;  ///< probabilities are dropped only with linear positions (Falcon)
  std::int64_t compresses = 0;    ///< one shared key a token of a window and compressed entries of
                                  ///< all tokens: rotated elements of each (DeepSeek-V4)
  bool clamps_all = false;        ///< the result of one matrix for all three is clamped (DBRX)

  bool operator==(const AttentionQuirks&) const = default;
};

struct RouterQuirks {
  RouterKind kind = RouterKind::softmax_of_all;
  bool converted = true;    ///< weights of the chosen experts are turned into the logits' type
  bool all_tokens = false;  ///< every expert multiplies every token, scaled before (Llama 4)
  bool one_by_one = false;  ///< a loop over the experts, no grouped products (DBRX)

  bool operator==(const RouterQuirks&) const = default;
};

struct MixerQuirks {
  bool bounded_gate = false;   ///< Kimi delta rule: its decay is a sigmoid, not a softplus
  bool decay_as_held = false;  ///< …: its decay is converted to the type of its input (Ling 3)
  bool beta_in_fp32 = false;   ///< …: the sigmoid of each head's step is in fp32 (Kimi K3)
  std::int64_t block = 0;      ///< lightning attention: tokens of a block

  bool operator==(const MixerQuirks&) const = default;
};

/// How streams of residuals are joined, where a layer has several.
enum class StreamKind : std::uint8_t {
  balanced,  ///< weights whose rows and columns sum to one (arXiv:2512.24880)
  gated,     ///< a gate of low rank for each element (Qwen4-Exp)
};

struct LayerQuirks {
  AttentionQuirks attention{};
  RouterQuirks router{};
  MixerQuirks mixer{};
  bool norms_the_sum = false;  ///< BERT: the norm follows the residual's addition
  Parallel parallel = Parallel::no;
  bool drops_attention = true;       ///< hidden dropout follows attention (not in StableLM)
  bool adds_bias = false;            ///< biases are added as tensors of their own (Falcon)
  std::int64_t balancing_steps = 0;  ///< for balanced streams: the config's hc_sinkhorn_iters
  bool clamps_gating = false;        ///< gate and up are clamped before their product (DeepSeek-V4)
  bool bends_up = false;             ///< SiTU: a tanh of the other operand too (Kimi K3)
  /// Residuals of earlier blocks of layers, which weights mix with the present one before the first
  /// half and before the second (Kimi K3); 0: none.
  std::int64_t residuals_before = 0, residuals_after = 0;
  bool unrecorded = false;  ///< a step keeps what the source says, not what autograd recorded

  bool operator==(const LayerQuirks&) const = default;
};

}  // namespace headroom::model
