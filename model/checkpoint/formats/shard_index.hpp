// Checkpoints in shards: model.safetensors.index.json, pytorch_model.bin.index.json, and what the
// shards that they name hold.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

/// More files than any checkpoint has.
inline constexpr std::size_t most_shards = 4096;

/// Names of all files of a checkpoint in numbered parts, from the name of one:
/// "x-00002-of-00005.gguf" gives five, and so with any other ending. The name alone where it is not
/// of that form. Throws FormatError for more than `most_shards`.
std::vector<std::string> part_names(std::string_view name);
/// The name without the number of a part and without its ending: "x" for
/// "x-00002-of-00005.gguf" and for "x.gguf".
std::string stem_of(std::string_view name);

struct ShardIndex {
  std::string origin;
  std::map<std::string, std::string> weight_map;  ///< tensor → shard
  std::vector<std::string> shards;                ///< each once, in the order of their names
  Size total_size = -1;                           ///< bytes; -1 where the index does not say
};

inline constexpr Size most_index = Size{64} << 20;

/// Parses an index. Throws FormatError for one of more than 64 MiB or `most_shards`, a duplicate or
/// empty tensor name, a shard that is not a plain file name ending in .safetensors or .bin, or one
/// that is itself an index.
ShardIndex parse_shard_index(std::string_view json, std::string origin);

/// All tensors of the shards. `open` returns the list of one shard (a file name beside the index),
/// and throws where it is missing. Throws FormatError when a tensor is not in the shard that the
/// index names. A tensor that the index does not say is in its shard is left out, as a loader that
/// goes by the index leaves it; that, and a total_size that is not the sum, are notes.
TensorList read_shards(const ShardIndex& index,
                       const std::function<TensorList(const std::string& shard)>& open);

}  // namespace headroom::model
