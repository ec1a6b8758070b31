// Reads rows of engines from TOML: model/engine/engines/*.toml and users' files.
#pragma once

#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// Adds the rows of `toml`, called `file` in errors, to `rows`. A row may inherit from any row
/// before it; a row with the name of an earlier one takes its place. Throws std::runtime_error
/// naming file, line, key, what was found and what is allowed.
void read_engines(std::vector<Engine>& rows, std::string_view toml, std::string_view file);

}  // namespace headroom::model
