// Types of the tensors in GGUF files.
#pragma once

#include <cstdint>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom::model {

/// Bytes of a type's rows: `row_bytes`, and `block_bytes` for each `block_elements` elements.
struct GgufType {
  std::uint32_t id;  ///< ggml's number
  std::string_view name;
  Size block_elements, block_bytes;
  Size row_bytes = 0;
};

/// Null for an unknown number.
const GgufType* gguf_type(std::uint32_t id);
/// True for types that ik_llama.cpp reads and llama.cpp does not.
bool is_gguf_type_of_ik(std::string_view name);

}  // namespace headroom::model
