// What config classes of the reference assume for keys that a config.json leaves out: configs
// inside configs are saved without what equals their class's values, and so are some whole files.
//
// The table, catalogue/class_defaults.tsv, is written by tests/oracle/class_defaults.py from
// transformers 5.23: one row per model_type, the class's values before it derives any, and its
// attribute_map.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"

namespace headroom::model {

/// `c` where the keys that it leaves out, under any of the names that the class of `model_type` has
/// for them, read as that class says; `c` itself where no class of that type is known. For
/// sections.
Config with_class_defaults(const Config& c, std::string_view model_type);

/// The same for a whole config.json, which states its sizes: vocabulary, hidden size, layers, heads
/// and feed-forward width are never assumed.
Config with_optional_class_defaults(const Config& c, std::string_view model_type);

}  // namespace headroom::model
