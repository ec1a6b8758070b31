// The memory of a model as one call with switches for its terms.
#pragma once

#include "hardware/machine.hpp"
#include "hardware/units.hpp"
#include "model/checkpoint/model.hpp"

namespace memory_of {

enum class Include { no, yes };

struct Switches {
  headroom::Size bytes_per_element = 2;  ///< bytes of weights and cache: 4, 2 or 1
  headroom::Size batch = 1;              ///< concurrent sequences
  headroom::Size tokens = 2048;          ///< tokens of each sequence
  Include kv_cache = Include::yes;
  Include activations = Include::yes;
  Include overhead = Include::yes;  ///< memory of the engine itself
  Include optimizer = Include::no;  ///< states of AdamW, in bytes_per_element
};

/// Terms that are switched off are 0.
struct Memory {
  headroom::Bytes weights, kv_cache, activations, overhead, optimizer;
  headroom::Bytes total() const { return weights + kv_cache + activations + overhead + optimizer; }
};

/// Throws std::invalid_argument if no storage format has `bytes_per_element`, or if the model
/// cannot run on `machine` in that format.
Memory estimate(const headroom::model::Model& model, const headroom::Machine& machine,
                const Switches& switches);

}  // namespace memory_of
