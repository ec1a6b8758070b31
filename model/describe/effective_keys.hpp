// Which keys of a config a model depends on: what an override may name.
#pragma once

#include <set>
#include <string>

#include "model/describe/config.hpp"

namespace headroom::model {

/// Keys of `config`, dotted below sections, that its description, its checkpoint's precision, its
/// images, its multi-token prediction or its positions ask for, under every name that they have;
/// not those that only the echo of the shape tries. Throws what make_model throws.
std::set<std::string> effective_keys(const Config& config);

}  // namespace headroom::model
