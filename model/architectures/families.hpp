// The functions behind the table of architectures: one per class, in one file per family.
//
// Each takes the config and returns the Part below the root module. Names, shapes and order are
// those of transformers 5.23 on the meta device, which tests/oracle/models_test.cpp compares with.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// llama.cpp
Part llama(const Config& c);

}  // namespace headroom::model::families
