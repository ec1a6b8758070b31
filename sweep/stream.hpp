// Output of a command as a stream, for text that is too large to keep in memory.
#pragma once

#include <functional>
#include <ostream>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// Calls `write` with the stream of --out, or with standard output. A file appears whole or not at
/// all. Throws std::runtime_error when the output cannot be written.
void stream(const Options& options, const std::function<void(std::ostream&)>& write);

}  // namespace headroom::sweep
