// GGUF files: magic, version, counts, key-value pairs, tensor descriptions, then the data.
//
// Source: ggml docs/gguf.md (versions 2 and 3, little-endian); type numbers: ggml/include/ggml.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

/// Longest accepted header, including the tokenizer. The largest known header has 16 MB.
inline constexpr Size max_gguf_header = Size{256} << 20;

/// A list, stored as its length. Whole numbers and booleans with one value a layer keep their
/// values.
struct GgufList {
  Size length = 0;
  std::vector<std::int64_t> numbers{};
};
inline constexpr Size max_kept_numbers = most_layers;
using GgufValue = std::variant<std::int64_t, double, std::string, GgufList>;

struct GgufHeader {
  TensorList list;
  std::uint32_t version = 0;
  Size header_bytes = 0;                    ///< up to the data, including padding
  std::map<std::string, GgufValue> values;  ///< scalars, strings up to 64 KiB, short lists
  Size split_number = 0, split_count = 1;   ///< "split.no", "split.count"
  Size split_tensors = -1;                  ///< "split.tensors.count"; -1: not stated

  /// The value of a whole-number key, the length of a list, or `fallback`.
  Size number(std::string_view key, Size fallback) const;
  std::string text(std::string_view key) const;  ///< empty if absent
};

/// Parses the start of a file of `file_size` bytes (-1: unknown). Returns nothing if `prefix` ends
/// before the header does and the file continues. Throws FormatError for:
///   bad magic, versions other than 2 and 3, big-endian files;
///   counts and lengths that the file cannot hold;
///   unknown types, duplicate keys or names, rows that are no multiple of the block;
///   data outside the file, and overlapping data.
/// Memory is bounded by the prefix. A count in the file never causes an allocation.
std::optional<GgufHeader> parse_gguf(std::string_view prefix, Size file_size, std::string origin);

/// Reads the header of a file: 1 MiB at first, then doubling until the header ends.
GgufHeader read_gguf(const ReadRange& read, Size file_size, std::string origin);

/// Joins the headers of all files of a split model. Throws FormatError for a missing or duplicate
/// part, parts that disagree about their number, or a tensor in two parts.
GgufHeader join_gguf(std::vector<GgufHeader> parts);

}  // namespace headroom::model
