// Learned absolute positions: the rows of a table, beyond which no engine can read.
#pragma once

#include "hardware/units.hpp"

namespace headroom::model {

class Config;
struct Model;

/// Tokens that a table of `rows` positions serves. Classes that number positions after the padding
/// token, as RoBERTa does, leave the rows up to it unused.
Size usable_positions(const Config& config, Size rows);

/// True if the positions of `model` are rows of a table that was learned, not of sines.
bool has_position_table(const Model& model);

}  // namespace headroom::model
