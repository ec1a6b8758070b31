// Lines of model/engine/constants.tsv.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/engine/constant.hpp"

namespace headroom::sweep {

/// One line. `cards` and `width` index a cell of an engine's rates, or are `any` (99).
std::string constant_line(std::string_view engine, std::string_view constant, std::size_t cards,
                          std::size_t width, const model::Constant& c, std::string_view source);

/// `lines` with equal lines of several engines as one line that names them all.
std::string joined(std::string_view lines);

}  // namespace headroom::sweep
