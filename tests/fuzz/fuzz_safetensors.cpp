// libFuzzer target: any bytes as a safetensors file, and what it declares counted and compared.
#include <cstddef>
#include <cstdint>
#include <string>

#include "model/checkpoint/formats/compare.hpp"
#include "model/checkpoint/formats/logical.hpp"
#include "model/checkpoint/formats/safetensors.hpp"
#include "model/describe/blocks/blocks.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::model;
  const std::string file(reinterpret_cast<const char*>(data), size);
  const auto read = [&](headroom::Size offset, headroom::Size length) {
    return file.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  };
  static const Part part = embedding("embed", 4, 2) + linear("lm_head", 2, 4);
  try {
    const TensorList list = read_safetensors(read, static_cast<headroom::Size>(size), "fuzz");
    // Accepted tensors fill the file exactly.
    headroom::Bytes sum;
    for (const TensorHeader& tensor : list.tensors) sum += tensor.bytes;
    if (sum != list.total || sum.count() > static_cast<headroom::Size>(size)) __builtin_trap();
    totals_of(list);
    compare(part, list);
  } catch (const FormatError&) {
  }
  return 0;
}
