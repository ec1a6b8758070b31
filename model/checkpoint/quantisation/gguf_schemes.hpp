// Schemes of GGUF files.
#pragma once

#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// File types of llama.cpp, and those that only ik_llama.cpp makes. "-imatrix": with an importance
/// matrix, if it changes the mix.
std::vector<Scheme> gguf_schemes();

}  // namespace headroom::model
