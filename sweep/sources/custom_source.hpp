// Custom models as a source: "custom?hidden_size=768&layers=12", and TOML files.
//
//   [model]                 # or the keys of this table at the top of the file
//   hidden_size = 384
//   layers = 6
//   [training]              # not read here
//   batch_size = 24
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sweep/sources/source.hpp"

namespace headroom::sweep {

std::unique_ptr<ModelSource> custom_source();

/// The model that a TOML text describes; `file` names it in errors, and its stem is the model's
/// name where the text has no `name`. Keys are flags with "_" for "-", in any of their spellings.
/// Keys of training and a table [training] are ignored. Throws ConfigError or std::runtime_error:
/// file, line, key, what was found, what would have worked.
model::Model model_from_toml(std::string_view toml, const std::string& file,
                             const ModelReference& reference);

}  // namespace headroom::sweep
