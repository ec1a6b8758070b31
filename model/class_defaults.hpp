// What config classes of the reference assume for keys that a section of a config.json leaves out:
// configs inside configs are saved without what equals their class's values.
//
// The table, catalogue/class_defaults.tsv, is written by tests/oracle/class_defaults.py from
// transformers 5.23: one row per model_type, the class's values before it derives any, and its
// attribute_map.
#pragma once

#include <string_view>

#include "model/config.hpp"

namespace headroom::model {

/// `c` where the keys that it leaves out, under any of the names that the class of `model_type` has
/// for them, read as that class says; `c` itself where no class of that type is known. Use it on
/// sections only: the top level of a config.json holds every key that its class has.
Config with_class_defaults(const Config& c, std::string_view model_type);

}  // namespace headroom::model
