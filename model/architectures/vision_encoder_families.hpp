// The functions behind the rows of vision encoders that are no part of a vision-language model
// here.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// dino.cpp
Part dinov2(const Config& c);
Part dinov3(const Config& c);

}  // namespace headroom::model::families
