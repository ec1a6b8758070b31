// Learned absolute positions: the rows of a table, beyond which no engine can read.
#pragma once

namespace headroom::model {

struct Model;

/// True if the positions of `model` are rows of a table that was learned, not of sines.
bool has_position_table(const Model& model);

}  // namespace headroom::model
