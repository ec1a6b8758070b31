// Defaults of the reference's config classes, for sections that leave keys out.
#pragma once

#include <string_view>

#include "model/config.hpp"

namespace headroom::model::families {

/// `c` where the keys it leaves out read as the class of `model_type` says; `c` itself where no
/// defaults are known, so that a missing key stays an error. Use it on sections only: the top level
/// of a config.json holds every key that its class has.
Config with_class_defaults(const Config& c, std::string_view model_type);

}  // namespace headroom::model::families
