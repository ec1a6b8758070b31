// The checkpoint that an engine is given so that it holds the point's weights.
#pragma once

#include <string>

#include "sweep/launch/launch.hpp"

namespace headroom::sweep {

/// Name of the checkpoint to load for the point. It is the model's own where the engine holds that,
/// unpacks it to 16 bit, or makes the scheme of it (`made`). Else it is one of the catalogue with
/// the same parameters in that scheme. Empty: the user has to name one.
std::string served_checkpoint(const LaunchPoint& point, bool made);

/// A comment line that says how to name a checkpoint; empty where one is known.
std::string checkpoint_note(const LaunchPoint& point, bool made);

/// The checkpoint as a word of a shell. Without a known one it is "${CHECKPOINT:?…}", which stops
/// the script with a message. `made`: the engine makes the scheme of a 16-bit checkpoint.
std::string checkpoint_word(const LaunchPoint& point, bool made);

/// The checkpoint as an expression of Python, which fails likewise.
std::string checkpoint_in_python(const LaunchPoint& point, bool made);

}  // namespace headroom::sweep
