// The ways of a grid that names no engine.
#pragma once

#include <string>
#include <vector>

#include "sweep/grid/digits.hpp"

namespace headroom::sweep {

/// The grid with the engines and precisions that estimate compares, linked. As it is where it names
/// an engine, or where a name is not known: link_groups() says which line has it.
GridSpec with_usual_ways(const GridSpec& grid, Names& names);

/// Conditions of points to leave out: an engine in a precision that is compared only on other
/// machines of the grid. An example is a format that only newer cards compute with.
std::vector<std::string> unusual_ways(const GridSpec& grid, Names& names);

}  // namespace headroom::sweep
