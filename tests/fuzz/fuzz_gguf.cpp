// libFuzzer target: any bytes as a GGUF file, whole and as the beginning of a longer one.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/gguf.hpp"
#include "model/checkpoint/formats/logical.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::model;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = static_cast<headroom::Size>(size);
  for (const headroom::Size file_size : {whole, whole + 4096, headroom::Size{-1}}) {
    try {
      const auto header = parse_gguf(bytes, file_size, "fuzz");
      if (!header) continue;
      if (file_size >= 0 && header->list.total.count() > file_size) __builtin_trap();
      totals_of(header->list);
      join_gguf({*header});
    } catch (const FormatError&) {
    }
  }
  return 0;
}
