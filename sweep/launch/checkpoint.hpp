// The checkpoint that an engine is given so that it holds the point's weights.
#pragma once

#include <string>

#include "sweep/launch/launch.hpp"

namespace headroom::sweep {

/// The checkpoint to load for a point: the model's own where the engine holds that, unpacks it to
/// 16 bit, or makes the scheme of it. Else it is one of the catalogue with the same parameters in
/// that scheme. Without one the script stops with a message until the user names it.
class Checkpoint {
 public:
  /// `made`: the engine makes the scheme of a 16-bit checkpoint while it loads.
  Checkpoint(const LaunchPoint& point, bool made);
  /// A comment line that says how to name a checkpoint; empty where one is known.
  std::string note() const;
  /// A word of a shell: the name, or "${CHECKPOINT:?…}".
  std::string word() const;
  /// An expression of Python.
  std::string in_python() const;

 private:
  std::string name_;    ///< empty: none is known
  std::string wanted_;  ///< the request to the user, which has no name of a file in it
};

}  // namespace headroom::sweep
