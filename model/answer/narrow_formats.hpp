// Formats below 4 bits a parameter for mixtures that are otherwise too large for a host.
#pragma once

#include <array>
#include <string_view>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// The widest first. Others of their width are for models that were trained for them, or are rarely
/// published. Source: names of files (Q3_K_M, UD-IQ3_XXS, UD-Q2_K_XL, UD-IQ2_XXS, UD-IQ1_S) in
/// public lists of Qwen3.8-Flash-Next-GGUF, Qwen3-Coder-Next and DeepSeek-R1-GGUF by unsloth, of
/// 2025 and 2026.
inline constexpr std::array<std::string_view, 5> narrow_formats = {"q3_K_M", "iq3_xxs", "q2_K",
                                                                   "iq2_xxs", "iq1_s"};

/// Bits of a converted weight, scales included; of a mix, those of its usual format.
inline double nominal_bits(const Scheme& scheme) {
  if (scheme.bits >= 1000) return static_cast<double>(scheme.bits) / 1000;  // a mean
  return 8 * precision(scheme.format).element_bytes();
}

inline bool is_below_four_bits(const Scheme& scheme) { return nominal_bits(scheme) < 4; }

}  // namespace headroom::model
