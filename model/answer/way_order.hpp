// The order of ways to run one model on one machine, an engine and a precision each.
#pragma once

#include <compare>

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/infer/usable_speed.hpp"

namespace headroom::model {

/// How well a way runs; less is better.
enum class WayRank { on_cards, tight, offload, does_not_fit, refused };
/// `tight`: on cards, but memory may not suffice.
WayRank way_rank(const Estimate& estimate, bool tight);

/// Bits that a parameter takes in `weights`, to the next half from 4 bits on: formats as wide hold
/// as much. A tower or an embedding in 16 bit does not make a format wider, nor do tensors that
/// fall back to another one. A mix takes up to 0.56 bits more than its format, as q3_K_M of
/// Llama-3.1-8B does (llama.cpp tools/quantize/README.md). Formats of 4 bits are one width.
/// `scheme`: null if it is not known.
double bits_per_parameter(Bytes weights, double parameters, const Scheme* scheme);
double bits_per_parameter(const QuantisedModel& weights);

/// Weights of 16 or 8 bits a parameter lose next to nothing, of 4 to 6 a little, of fewer more.
/// Source: perplexities in llama.cpp tools/quantize/README.md.
enum class Fidelity { sixteen_bits, eight_bits, four_bits, less };
Fidelity fidelity(double bits);

/// Weights of fewer than 4 bits have to be this many times as fast as those of 4, beyond the bits
/// that they save. It is half as much again, and six times more for each bit less.
double narrow_handicap(double bits);

/// A speed that is higher by less is not worth a word: rounding on a screen hides it.
inline constexpr double worth_saying = 1.02;

/// Facts about a way besides its estimate.
struct WayFacts {
  bool tight = false;      ///< on cards, but memory may not suffice
  bool one_batch = false;  ///< several requests begin and end together: nobody is served at once
  /// bits_per_parameter(), at most those of the checkpoint and of the precision that was asked for:
  /// no format holds more than they do.
  double bits = 16;
  double served_tokens_s = 0;   ///< output tokens a second of whole requests; 0: `estimate` decides
  bool requantised = false;     ///< another format of a checkpoint that is quantised itself
  bool without_towers = false;  ///< other ways load the model's towers of images and sound
};

/// Seconds that a way takes for each output token of all requests together, prompts included. For
/// one request: the time of its answer, over its tokens. Without output: the time of a pass.
double seconds_a_token(const Estimate& estimate, double served_tokens_s = 0);

/// The place of a way among others; less is better. Ways that run go by `cost`: seconds_a_token(),
/// times 16 over the bits of its weights. So narrower weights have to be faster by more than the
/// bits that they save: 8 bits twice as fast as 16. A quarter more is asked of 4 to 6 bits, and
/// narrow_handicap() of fewer. The cost is also
/// * twice as high if memory may not suffice, or if requests wait for room;
/// * 2.5 times as high with offload, where more than 4 bits count as 4: nobody waits for them;
/// * twice as high without the model's towers, which reads no images;
/// * half as high again for a new format of a checkpoint that is quantised itself.
/// Ways that serve one batch at a time are behind all that admit requests as they come. Ways that
/// are too slow to use (is_too_slow()) are behind all that are not. Ways that do not fit go by the
/// memory that is missing.
struct WayPlace {
  WayRank rank = WayRank::refused;  ///< on_cards for all that run
  bool too_slow = false, one_batch = false;
  double missing = 0;  ///< bytes
  double cost = 0;     ///< s, weighed
  std::partial_ordering operator<=>(const WayPlace&) const = default;
};
WayPlace way_place(const Estimate& estimate, const WayFacts& facts);

}  // namespace headroom::model
