// The order of ways to run one model on one machine, an engine and a precision each.
#pragma once

#include <compare>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::model {

/// How well a way runs; less is better.
enum class WayRank { on_cards, tight, offload, does_not_fit, refused };
/// `tight`: on cards, but memory may not suffice.
WayRank way_rank(const Estimate& estimate, bool tight);

/// Bits that a parameter takes in `weights`, to the next half. Formats as wide hold as much. A
/// tower or an embedding in 16 bit does not make a format wider, nor do tensors that fall back to
/// another one. A mix takes up to 0.56 bits more than its format, as q3_K_M of Llama-3.1-8B does
/// (llama.cpp tools/quantize/README.md). Formats of 4 bits are one width. `scheme`: null if it is
/// not known.
double bits_per_parameter(Bytes weights, double parameters, const Scheme* scheme);
double bits_per_parameter(const QuantisedModel& weights);

/// Weights of 16 or 8 bits a parameter lose next to nothing, of 4 to 6 a little, of fewer more.
/// Source: perplexities in llama.cpp tools/quantize/README.md.
enum class Fidelity { sixteen_bits, eight_bits, four_bits, less };
Fidelity fidelity(double bits);

/// With offload, weights of fewer than 4 bits have to be this many times as fast as wider ones.
/// It is four, and four times again for each bit less.
double narrow_handicap(double bits);

/// Facts about a way besides its estimate.
struct WayFacts {
  bool tight = false;  ///< on cards, but memory may not suffice
  /// bits_per_parameter(), at most those of the checkpoint and of the precision that was asked for:
  /// no format holds more than they do.
  double bits = 16;
  double served_tokens_s = 0;  ///< output tokens a second of whole requests; 0: `estimate` decides
  bool published = false;      ///< the checkpoint's own precision
};

/// Seconds that a way takes for each output token of all requests together, prompts included. For
/// one request: the time of its answer, over its tokens. Without output: the time of a pass.
double seconds_a_token(const Estimate& estimate, double served_tokens_s = 0);

/// The place of a way among others; less is better. On cards:
/// * Weights of 7.5 bits or more go by seconds_a_token(). Those of 8 bits have to be twice as fast
///   as those of 16 to be before them.
/// * Narrower ones come behind, by their bits; equally wide ones go by seconds_a_token().
/// * All of 4 bits or more go by seconds_a_token() if they serve several requests. Those of 4 have
///   to be half as fast again as those of 8.
/// * Ways whose requests wait for room have to be half as fast again as ones that run all at once.
///   Weights of 16 bits count as 8 there.
/// * A checkpoint that is published in fewer than 16 bits comes before all others for one request.
///   Nobody quantises it anew where it is expected to fit. A tight one comes before narrower ones
///   alone.
/// With offload all go by seconds_a_token(), narrower ones than 4 bits times narrow_handicap().
/// Ways that take over ten seconds a token are behind all that take less. Ways that do not fit go
/// by the memory that is missing.
struct WayPlace {
  WayRank rank = WayRank::refused;
  double narrowness = 0, wary = 0, missing = 0, slowness = 0;
  std::partial_ordering operator<=>(const WayPlace&) const = default;
};
WayPlace way_place(const Estimate& estimate, const WayFacts& facts);

}  // namespace headroom::model
