// libFuzzer target: any bytes as a shard index.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/checkpoint/formats/shard_index.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::model;
  try {
    const ShardIndex index = parse_shard_index({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const std::string& shard : index.shards)
      if (shard.find('/') != std::string::npos) __builtin_trap();
    read_shards(index, [](const std::string& shard) {
      return TensorList{shard, {}, headroom::Bytes(0), {}};
    });
  } catch (const FormatError&) {
  }
  return 0;
}
