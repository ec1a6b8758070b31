// The form in which the build embeds the shipped engines: every field in binary, so that a start
// parses no text. The record is never stored or exchanged: program and record come from one build.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/engine.hpp"

namespace headroom::model {

/// Writes every field and constant of every row, exactly.
std::string to_record(std::span<const Engine> rows);

/// Reads what `to_record` wrote. Texts of the rows are views into `record`. Throws std::logic_error
/// for anything else.
std::vector<Engine> from_record(std::string_view record);

}  // namespace headroom::model
