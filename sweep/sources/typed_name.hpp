// Names as people type them: of a conversion of a known model, or with a tag.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headroom::sweep {

/// A model of the catalogue, and a precision that the name says.
struct TypedName {
  std::string model;   ///< "Qwen/Qwen3-8B"
  std::string scheme;  ///< name in model/checkpoint/quantisation; empty: the checkpoint's own
};

/// The model meant by "unsloth/Qwen3-8B-GGUF:Q4_K_M", "Qwen/Qwen3-8B-AWQ", "qwen3:8b" or
/// "Llama_3.1_8B-Instruct". Case and separators do not matter. Endings of conversions and of tuned
/// models are ignored. Whoever owns a conversion, else the owner is the model's. Nothing where no
/// model of the catalogue has that name. Throws UnknownName where several have, and for a tag that
/// is no scheme.
std::optional<TypedName> typed_name(std::string_view text);

}  // namespace headroom::sweep
