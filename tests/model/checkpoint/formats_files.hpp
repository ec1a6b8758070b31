// Makes small files for the header readers' tests: right ones, and any part of them wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

inline std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

/// A safetensors file with `data_bytes` of zeros behind `json`.
inline std::string safetensors_file(std::string_view json, std::size_t data_bytes) {
  return little(json.size(), 8) + std::string(json) + std::string(data_bytes, '\0');
}

inline std::string gguf_text(std::string_view text) {
  return little(text.size(), 8) + std::string(text);
}
inline std::string gguf_number(std::string_view key, std::uint32_t value) {
  return gguf_text(key) + little(4, 4) + little(value, 4);
}
inline std::string gguf_tensor(std::string_view name, const std::vector<std::uint64_t>& dims,
                               std::uint32_t type, std::uint64_t offset) {
  std::string out = gguf_text(name) + little(dims.size(), 4);
  for (const auto dim : dims) out += little(dim, 8);
  return out + little(type, 4) + little(offset, 8);
}
inline std::string gguf_file(const std::vector<std::string>& values,
                             const std::vector<std::string>& tensors, std::size_t data_bytes,
                             std::uint32_t version = 3) {
  std::string out =
      "GGUF" + little(version, 4) + little(tensors.size(), 8) + little(values.size(), 8);
  for (const auto& value : values) out += value;
  for (const auto& tensor : tensors) out += tensor;
  out.resize((out.size() + 31) / 32 * 32);
  return out + std::string(data_bytes, '\0');
}

/// Reads ranges of a string, as a file or a server gives them.
inline ReadRange range_of(const std::string& file) {
  return [&file](Size offset, Size length) {
    return offset >= static_cast<Size>(file.size())
               ? std::string()
               : file.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  };
}

/// The message of the FormatError that `f` throws; empty when it throws none.
template <class F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

}  // namespace headroom::model
