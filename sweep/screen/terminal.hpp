// Output for a person at a terminal: verdicts have colours, and long lists are cut short.
#pragma once

#include <string>
#include <string_view>

#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// True if the command writes to standard output, and that is a terminal.
bool on_terminal(const Options& options);

/// False if NO_COLOR is set and not empty (no-color.org), or TERM is dumb or missing.
bool allows_colour(const char* no_color, const char* term);

/// `text` of a screen with its verdicts in colour: green fits, yellow is tight or needs offload,
/// red does not fit. A verdict begins a line, or is the last cell of a row.
std::string coloured(std::string_view text);

}  // namespace headroom::sweep
