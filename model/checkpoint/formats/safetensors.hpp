// safetensors: eight bytes of length, a JSON header, then the data.
//
// Source: the format's README (huggingface/safetensors): u64 little-endian length, at most
// 100,000,000 bytes of JSON; offsets relative to the data, no holes, no overlaps.
#pragma once

#include <string_view>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

inline constexpr Size max_safetensors_header = 100'000'000;
inline constexpr Size max_tensors = Size{1} << 20;

/// Length of the JSON header, from the file's first eight bytes. Throws FormatError if they cannot
/// start a file of `file_size` bytes.
Size safetensors_header_length(std::string_view first_bytes, Size file_size,
                               std::string_view origin);

/// The tensors that `header` (the JSON only) declares, in the order of their data. `data_size` is
/// the number of bytes after the header. Throws FormatError unless the data fills exactly that
/// space. Errors are unknown types, shapes that contradict offsets, overlaps, holes, duplicate
/// names, and depths or counts beyond the format's limits. Memory is bounded by the header's size;
/// time is linear in it.
TensorList parse_safetensors(std::string_view header, Size data_size, std::string origin);

/// Reads the header of a file of `file_size` bytes, and nothing else.
TensorList read_safetensors(const ReadRange& read, Size file_size, std::string origin);

}  // namespace headroom::model
