// Counts that `params` prints of a model beside its profile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace headroom::sweep {

/// Parameters by part of the model, in registration order, tied ones with their owner: repeated
/// blocks together, everything else by module at the depth of the blocks' list.
std::vector<std::pair<std::string, Size>> parameter_groups(const model::Model& model);

/// Names of the tensors that share another one's storage.
std::vector<std::string> tied_tensors(const model::Model& model);

/// What one more token adds to the cache of one sequence at 2 bytes an element, before any window
/// is full: K and V of self-attention, or the latent.
Size kv_bytes_per_token_fp16(const model::Model& model);

/// Tensors of multi-token prediction: parameters, and copies of the model's.
struct Further {
  Size parameters = 0, copies = 0;
};
Further further_of(const model::MultiTokenPrediction& prediction);

}  // namespace headroom::sweep
