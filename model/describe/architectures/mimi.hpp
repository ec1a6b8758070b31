// Mimi (arXiv:2410.00037), the codec by which models hear and write speech as tokens.
#pragma once

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

/// Encoder, decoder and codebooks.
Submodel mimi(const Config& c);

}  // namespace headroom::model::families
