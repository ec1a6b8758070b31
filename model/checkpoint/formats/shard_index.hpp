// Sharded checkpoints: model.safetensors.index.json, pytorch_model.bin.index.json, and the shards
// that they name.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

/// More than any known checkpoint has.
inline constexpr std::size_t max_shards = 4096;

/// File names of a checkpoint in numbered parts, from the name of one part: "x-00002-of-00005.gguf"
/// gives five. Any ending works. Returns only the name itself if it has another form. Throws
/// FormatError for more than `max_shards`.
std::vector<std::string> part_names(std::string_view name);
/// The name without part number and ending: "x" for "x-00002-of-00005.gguf" and for "x.gguf".
std::string stem_of(std::string_view name);

struct ShardIndex {
  std::string origin;
  std::map<std::string, std::string> weight_map;  ///< tensor → shard
  std::vector<std::string> shards;                ///< without duplicates, sorted by name
  Size total_size = -1;                           ///< bytes; -1 if the index does not state it
};

inline constexpr Size max_index = Size{64} << 20;

/// Parses an index. Throws FormatError for an index above 64 MiB or `max_shards`, and for a
/// duplicate or empty tensor name. A shard must be a plain file name ending in .safetensors or
/// .bin, and not an index itself.
ShardIndex parse_shard_index(std::string_view json, std::string origin);

/// All tensors of the shards. `open` returns the list of one shard (a file name in the index's
/// folder) and throws if it is missing. Throws FormatError for a tensor that is not in the shard
/// that the index names. Loaders skip a tensor that the index does not place in its shard, and so
/// does this function. Skipped tensors and a wrong total_size are notes.
TensorList read_shards(const ShardIndex& index,
                       const std::function<TensorList(const std::string& shard)>& open);

}  // namespace headroom::model
