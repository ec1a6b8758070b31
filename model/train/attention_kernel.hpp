// The kernels that run attention's scores in a training step, as transformers names them
// (attn_implementation), and the models that have none of a kind.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// eager: separate kernels, which keep the scores. sdpa: torch's scaled_dot_product_attention,
/// which keeps none, but a mask for each layer of a sliding window (transformers 5.24
/// masking_utils.py _ignore_causal_mask_sdpa). flash_attention: the flash-attn package, whose
/// kernels take windows, soft caps and sinks as arguments (flash_attention_mask,
/// integrations/flash_attention.py).
enum class AttentionKernel : std::uint8_t { eager, sdpa, flash_attention };
inline constexpr std::array<std::string_view, 3> attention_names = {"eager", "sdpa",
                                                                    "flash_attention_2"};
constexpr std::string_view name_of(AttentionKernel kernel) {
  return attention_names[static_cast<std::size_t>(kernel)];
}

/// Words that people use for them. `flash` is the fused kernel that a runtime takes by itself.
inline constexpr std::array<std::string_view, 6> attention_words = {
    "eager", "sdpa", "flash", "flash_attention_2", "flash_attention_3", "flash_attention_4"};
constexpr AttentionKernel attention_kernel(std::size_t word) {
  return word == 0  ? AttentionKernel::eager
         : word < 3 ? AttentionKernel::sdpa
                    : AttentionKernel::flash_attention;
}

struct AttentionUse;
/// Why flash-attn does not run this attention; empty: it does.
std::string without_flash(const AttentionUse& use);

/// The kernels that layers of the text have in common.
struct AttentionSupport {
  bool sdpa = true;             ///< false: in some layer scores are kept, whatever is asked
  bool sinks = false;           ///< flash-attn's kernels of version 3 or later alone
  std::string without_flash{};  ///< why flash-attn does not run some layer; empty: it runs all
};
AttentionSupport attention_support(const Model& model);

}  // namespace headroom::model
