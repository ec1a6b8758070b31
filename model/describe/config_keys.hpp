// Keys of a config that no description reads and that its class does not have. Such a key is a
// typing error, or belongs to another class or to custom code.
#pragma once

#include <string>
#include <vector>

#include "model/describe/config.hpp"

namespace headroom::model {

struct UnknownKey {
  std::string key;                   ///< dotted below sections
  std::vector<std::string> nearest;  ///< known keys of that section, best first
};

/// Keys of `config` that were never read and that its config class does not have
/// (model/describe/catalogue/config_fields.tsv). Empty for a class that is not listed. Call it
/// after the model is described.
std::vector<UnknownKey> unknown_keys(const Config& config);

}  // namespace headroom::model
