// Which of a model's files hold its tensors, and what their headers say.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/checkpoint/formats/gguf.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "sweep/sources/model_files.hpp"

namespace headroom::sweep {

enum class FileKind { config, index, safetensors, gguf, pickle, unknown };
/// By the ending of its name alone.
FileKind kind_of(std::string_view name);

/// The file that a loader would begin with, in the order of transformers 5.23
/// (modeling_utils.py, _get_resolved_checkpoint_files): model.safetensors, its index,
/// pytorch_model.bin, its index, shards that no index names. Without a config.json also the one
/// .safetensors or .gguf model that there is; throws FormatError where there are several. Nothing
/// where there is none.
std::optional<std::string> checkpoint_file(const ModelFiles& files);

/// Content of a checkpoint's headers.
struct Headers {
  model::Detail detail = model::Detail::tensors;
  model::TensorList list;
  std::optional<model::GgufHeader> gguf{};  ///< its values; the tensors are in `list`
  std::string source;                       ///< in words: which headers were read
};
/// Reads the headers of `file` and of all files of its checkpoint. These are the shards of an
/// index, the other shards of a shard, or the parts of a split GGUF. Pickled files give only names
/// (from an index) and sizes. Throws FormatError or std::runtime_error that name the file.
Headers read_headers(const ModelFiles& files, const std::string& file);

}  // namespace headroom::sweep
