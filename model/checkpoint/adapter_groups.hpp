// Adapted modules of a layer that fused kernels run together.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/adapter.hpp"

namespace headroom::model {

/// Modules of each kernel, which have one input: the queries', keys' and values'; attention's
/// output; gate, up and down of a feed-forward layer. Source: unsloth 2026.10 models/llama.py,
/// patch_peft_model.
struct AdapterGroups {
  std::vector<std::vector<const AdaptedModule*>> together;
  std::vector<const AdaptedModule*> apart;  ///< PEFT's own code runs them
};

/// A name for what the module reads: one for the queries, keys and values of a layer, one for gate
/// and up. Other modules have their own.
std::string input_of(const AdaptedModule& module);

/// The groups of an adapter's modules. Modules stay apart if one of their group is not adapted, has
/// a bias or a magnitude (DoRA), or stands for several.
AdapterGroups adapter_groups(const Model& model, const Adapter& adapter);

}  // namespace headroom::model
