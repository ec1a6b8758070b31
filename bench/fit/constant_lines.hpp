// Lines of model/engine/constants.tsv.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/constant.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// One line. `cards` and `width` index a cell of an engine's rates, or are `any` (99).
std::string constant_line(std::string_view engine, std::string_view constant, std::size_t cards,
                          std::size_t width, const model::Constant& c, std::string_view source);

/// Sources of some subjects; "pooled" without any.
std::string sources_behind(const std::vector<ScoredRow>& subjects,
                           const std::vector<std::size_t>& of);
std::set<std::string_view> families_of(const std::vector<ScoredRow>& subjects);
std::set<std::string_view> generations_of(std::string_view family);

/// `lines` with equal lines of several engines as one line that names them all.
std::string joined(std::string_view lines);

}  // namespace headroom::sweep
