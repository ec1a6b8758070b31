// Keys of a config that nothing reads and its class does not have: a slip of the pen, a key of
// another class, or code that the reference does not know.
#pragma once

#include <string>
#include <vector>

#include "model/describe/config.hpp"

namespace headroom::model {

struct UnknownKey {
  std::string key;                   ///< dotted below sections
  std::vector<std::string> nearest;  ///< keys that are understood there, best first
};

/// Of the keys that nobody has asked `config` for, those that its config class does not have either
/// (model/describe/catalogue/config_fields.tsv). Empty for a class that is not listed. Ask after
/// the model is described.
std::vector<UnknownKey> unknown_keys(const Config& config);

}  // namespace headroom::model
