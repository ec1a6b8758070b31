// In what layers multiply their matrices below 16 bit: formats of 8 and 4 bit as rows. Weights,
// gradients and states stay as the recipe holds them; embeddings, norms, attention, routers and the
// head stay in 16 bit.
#pragma once

#include <span>
#include <string_view>

#include "hardware/device.hpp"
#include "hardware/units.hpp"

namespace headroom::model {

struct MatrixFormat {
  std::string_view name, meaning;
  Arithmetic arithmetic;  ///< units that multiply it
  double bits;            ///< of an element with its share of the scales
  std::string_view source;
};

/// Which package quantises operands, hence what is kept of them between forward and backward.
enum class MatrixPackage : std::uint8_t {
  none,                ///< the runtime multiplies in 16 bit and more
  transformer_engine,  ///< inputs are kept quantised; weights have a copy for either pass
  torchao,             ///< inputs are kept in 16 bit and quantised anew; nothing else is kept
};

std::span<const MatrixFormat> matrix_formats();
/// Whether the card has units for it.
bool multiplies(const Device& card, const MatrixFormat& format);
/// Throws UnknownName with the nearest names.
const MatrixFormat& matrix_format(std::string_view name);

}  // namespace headroom::model
