// Versions that rows of engines stand for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// The numbers of a version: "v0.11.2" has 0, 11, 2; "b6325" has 6325. Nothing where `text` is no
/// version.
std::optional<std::vector<int>> version_numbers(std::string_view text);

/// "0.16 to 0.19", "to 0.15", "0.28 on".
std::string version_range(std::string_view from, std::string_view to);

/// The row of `series` that stands for `version`, else nullptr. A row to 0.19 stands for 0.19.1
/// too.
const Engine* row_of_version(std::span<const Engine> rows, std::string_view series,
                             std::string_view version);

}  // namespace headroom::model
