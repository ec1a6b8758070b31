// Formats in which layers multiply matrices below 16 bit (8 and 4 bit), as rows. The recipe decides
// how weights, gradients and states are stored. Embeddings, norms, attention, routers and the head
// stay in 16 bit.
#pragma once

#include <span>
#include <string_view>

#include "hardware/device.hpp"
#include "hardware/units.hpp"

namespace headroom::model {

struct MatrixFormat {
  std::string_view name, meaning;
  Arithmetic arithmetic;  ///< units that multiply it
  double bits;            ///< bits of an element, including its share of the scales
  std::string_view source;
};

/// The package that quantises operands. It determines what is kept between forward and backward.
enum class MatrixPackage : std::uint8_t {
  none,                ///< the runtime multiplies in 16 bit or more
  transformer_engine,  ///< inputs are kept quantised; weights have one copy for each pass
  torchao,             ///< inputs are kept in 16 bit and quantised again; nothing else is kept
};

std::span<const MatrixFormat> matrix_formats();
/// True if the card has units for the format.
bool multiplies(const Device& card, const MatrixFormat& format);
/// Throws UnknownName with the nearest names.
const MatrixFormat& matrix_format(std::string_view name);

}  // namespace headroom::model
