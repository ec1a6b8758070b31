// Weights of a file whose mix of formats is not described, by the size that its source prints.
#pragma once

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::sweep {

/// `weights` with every tensor's bytes in proportion, so that they are `file` together. What a pass
/// reads shrinks or grows alike. Left out: which layers a dynamic mix holds in more bits.
model::QuantisedModel of_file_size(model::QuantisedModel weights, Bytes file);

}  // namespace headroom::sweep
