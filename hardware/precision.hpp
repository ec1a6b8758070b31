// Storage formats of numbers. Every format, plain or quantised, stores a block of elements in a
// block of bytes.
#pragma once

#include <span>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom {

/// The arithmetic units that multiply numbers of this format.
enum class Arithmetic { fp32, bf16, fp16, fp8, int8, fp4, dequantised };

/// A storage format: `block_bytes` for every `block_elements` elements. Example: bf16 {1, 2}, q4_K
/// {256, 144}, int4 {2, 1}. Some formats also have a scale for each row of a matrix.
struct Precision {
  std::string_view name;
  Size block_elements;
  Size block_bytes;
  Arithmetic arithmetic;    ///< `dequantised`: unpacked to 16 bit, then multiplied
  std::string_view source;  ///< definition of the block layout
  Size row_bytes = 0;       ///< stored once a row of a matrix, before its blocks

  /// Bytes of `elements` elements in whole blocks; the last block is padded. Throws
  /// std::overflow_error beyond 2^63 - 1 bytes.
  constexpr Bytes stored(Size elements) const {
    return (elements / block_elements + (elements % block_elements != 0 ? 1 : 0)) *
           Bytes(block_bytes);
  }
  /// Bytes of a matrix row of `elements`. Throws std::overflow_error as stored() does.
  constexpr Bytes row(Size elements) const { return stored(elements) + Bytes(row_bytes); }
  /// Bytes of one element, including its share of the block's scales.
  constexpr double element_bytes() const {
    return static_cast<double>(block_bytes) / static_cast<double>(block_elements);
  }
};

/// All known formats in a fixed order.
std::span<const Precision> precisions();
/// The row called `name` (case-insensitive, aliases such as float16 included).
/// Throws UnknownName with the nearest names.
const Precision& precision(std::string_view name);

}  // namespace headroom
