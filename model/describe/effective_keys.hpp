// The keys of a config that a model depends on. An override may name only these.
#pragma once

#include <set>
#include <string>

#include "model/describe/config.hpp"

namespace headroom::model {

/// Keys of `config`, with dots below sections, under every name that they have. They are read by
/// the description, the checkpoint's precision, the image rule, multi-token prediction or the
/// maximum length. Keys that only the printed shape reads are left out. Throws what make_model
/// throws.
std::set<std::string> effective_keys(const Config& config);

}  // namespace headroom::model
