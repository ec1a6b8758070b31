// Defaults of the reference's config classes for keys that a config.json leaves out. Nested configs
// are saved without values that equal their class's defaults, and so are some whole files.
//
// The table, catalogue/class_defaults.tsv, is written by tests/oracle/class_defaults.py from
// transformers 5.24: one row per model_type, the class's values before it derives any, and its
// attribute_map.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"

namespace headroom::model {

/// `c` with the defaults of the class of `model_type` for keys that it leaves out, under any of
/// their names. `c` itself where no class of that type is known. For sections.
Config with_class_defaults(const Config& c, std::string_view model_type);

/// A whole config.json with the defaults of its class. Vocabulary, hidden size, layers, heads and
/// feed-forward width are never assumed. Left out: quantization_config, whose lists are long.
Config with_optional_class_defaults(const Config& c, std::string_view model_type);

}  // namespace headroom::model
