// Mixes that only ik_llama.cpp makes.
#pragma once

#include <span>
#include <string_view>

#include "model/checkpoint/quantisation/mix.hpp"

namespace headroom::model {

/// A file type of ik_llama.cpp: formats of most tensors, of the output, and of a token embedding
/// that is the output.
struct IkMix {
  std::string_view name, format, output, tied_output;
};

std::span<const IkMix> ik_mixes();
/// Null for mixes that llama.cpp makes too.
const IkMix* ik_mix(std::string_view name);
std::span<const Mix::Rule> ik_mix_rules();
/// Blocks of 32 in place of a format in blocks of 256; empty: none.
std::string_view ik_fallback(std::string_view format);

}  // namespace headroom::model
