// Further counts of a model that `params` prints.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::sweep {

/// Parameters by part of the model, in registration order, with tied ones at their owner. Repeated
/// blocks are one part. Everything else is divided by module at the depth of the blocks' list.
std::vector<std::pair<std::string, Size>> parameter_groups(const model::Model& model);

/// The first `depth` names of a path with dots: "model.layers" of "model.layers.0" at 2.
std::string_view first_names(std::string_view path, std::size_t depth);

/// Names of the tensors that share another one's storage.
std::vector<std::string> tied_tensors(const model::Model& model);

/// Cache bytes of one sequence at 2 bytes an element, before any window is full. An estimate counts
/// all of it.
struct CacheElements {
  Size kv = 0;       ///< a token: K and V of self-attention, or the latent
  Size indexer = 0;  ///< a token: indexer keys of sparse attention
  Size source = 0;   ///< a token of the source or image: K and V of cross-attention
  Size state = 0;    ///< a sequence: convolutions and states of recurrent layers
};
CacheElements cache_fp16(const model::Model& model);

/// Which of these a model keeps, in a word: "full", "sliding" (every layer has a window), "mixed"
/// (some have), "latent", "hybrid" (recurrent layers among attention), "recurrent", "none".
std::string_view kv_kind(const model::Model& model);

/// Tensors of multi-token prediction: parameters, and copies of the model's.
struct Further {
  Size parameters = 0, copies = 0;
};
Further further_of(const model::MultiTokenPrediction& prediction);

}  // namespace headroom::sweep
