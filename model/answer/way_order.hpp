// The order of ways to run one model on one machine, an engine and a precision each.
#pragma once

#include <compare>

#include "model/infer/estimate.hpp"

namespace headroom::model {

/// How well a way runs; less is better.
enum class WayRank { on_cards, tight, offload, does_not_fit, refused };
/// `tight`: on cards, but memory may not suffice.
WayRank way_rank(const Estimate& estimate, bool tight);

/// Bits that a parameter takes in `weights`, to the next half. Formats as wide hold as much.
double bits_per_parameter(Bytes weights, double parameters);

/// Weights of 16 or 8 bits a parameter lose next to nothing, of 4 to 6 a little, of fewer more.
/// Source: perplexities in llama.cpp tools/quantize/README.md.
enum class Fidelity { sixteen_bits, eight_bits, four_bits, less };
Fidelity fidelity(double bits);

/// The place of a way among others; less is better. On cards the widest weights are first. Equally
/// wide ones go by the time of an answer. With offload all go by that time, but those that lose
/// more than 4 bits do are behind the others. Ways that do not fit go by the memory that is
/// missing.
struct WayPlace {
  WayRank rank = WayRank::refused;
  double narrowness = 0, missing = 0, answer_s = 0;
  std::partial_ordering operator<=>(const WayPlace&) const = default;
};
/// `bits`: bits_per_parameter(), at most those of the checkpoint: no format holds more than it.
/// Engines serve in 16 bit at most, so more are no better.
WayPlace way_place(const Estimate& estimate, bool tight, double bits);

}  // namespace headroom::model
