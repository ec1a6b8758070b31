// Classes of cards and widths of weights that share kernel efficiencies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hardware/device.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Cards on which memory and compute kernels are equally efficient.
/// hopper: HBM cards of compute capability 9 and later, whose hosts are younger too.
/// ada: cards without HBM of compute capability 8.9 and later. Their caches hold tens of MB and
/// their clocks are a third higher than those of gddr, the earlier ones.
/// radeon: AMD cards with GDDR or with the host's memory.
enum class CardClass : std::uint8_t { hbm, hopper, gddr, ada, radeon, apple, other };
inline constexpr std::size_t card_classes = 7;

/// NVIDIA's data centre dies (compute capability x.0 before 12, and 10.3) have HBM. Its other cards
/// have GDDR, or memory that a host shares, as GB10 and Jetson do.
/// Source: NVIDIA, CUDA GPU compute capability tables. AMD's HBM cards reach 1 TB/s and
/// more, its GDDR cards less (data sheets of Radeon VII, Instinct, RX and PRO).
CardClass card_class(const Device& device);

/// Width of weights that kernels read alike, by the bits of an element of the layers.
enum class Width : std::uint8_t { sixteen, fp8, eight, four, fp4 };
inline constexpr std::size_t widths = 5;

/// Mean bytes of a parameter of the layers, as stored in memory.
double bytes_per_layer_parameter(const QuantisedModel& weights);
/// fp8 and fp4 are checkpoints of those formats. Others go by their mean: 16-bit from 12 bits,
/// 8-bit from 6.5 bits, 4-bit below.
Width width_of(const QuantisedModel& weights);

}  // namespace headroom::model
