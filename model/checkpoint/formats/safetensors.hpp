// safetensors: eight bytes of length, a JSON header, then the data.
//
// Source: the format's README (huggingface/safetensors): u64 little-endian length, at most
// 100,000,000 bytes of JSON; offsets relative to the data, no holes, no overlaps.
#pragma once

#include <string_view>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

inline constexpr Size most_safetensors_header = 100'000'000;
inline constexpr Size most_tensors = Size{1} << 20;

/// Bytes of the JSON header, read from the file's first eight. Throws FormatError when they are
/// not a header of a file of `file_size` bytes.
Size safetensors_header_length(std::string_view first_bytes, Size file_size,
                               std::string_view origin);

/// The tensors that `header` (the JSON alone) declares, in the order of their data. `data_size`:
/// bytes after the header. Throws FormatError for anything but data that fills exactly that space:
/// unknown types, shapes that are not their offsets, overlaps, holes, duplicate names, any depth or
/// count beyond the format's. Memory is bounded by the header's size, time is linear in it.
TensorList parse_safetensors(std::string_view header, Size data_size, std::string origin);

/// The same from a file of `file_size` bytes: reads the header and nothing else.
TensorList read_safetensors(const ReadRange& read, Size file_size, std::string origin);

}  // namespace headroom::model
