// The two ways in which several cards share a model, and what does not fit on them.
#pragma once

#include "model/placement.hpp"

namespace headroom::model {

/// Whole layers, card after card; what does not fit goes to host memory and disk as the runtime
/// offloads. Cards are as few as hold the model. `memory_factor` as in `place`.
Plan split_layers(const Scenario& scenario, double memory_factor);

/// Every matrix over as few cards as hold the model (or as many as the scenario asks for), in
/// stages.
Plan split_tensors(const Scenario& scenario, double memory_factor);

/// `bytes` divided by `factor`, rounded down.
inline Bytes scaled(Bytes bytes, double factor) {
  return Bytes(static_cast<Size>(static_cast<double>(bytes.count()) / factor));
}

/// Cards that one replica may use.
inline Size card_count(const Scenario& s) {
  const auto cards = static_cast<Size>(s.machine->devices.size());
  return cards < Plan::most_cards ? cards : Plan::most_cards;
}

/// The head's bytes where it is: its own, or a copy of a tied embedding that is kept elsewhere
/// (llama.cpp duplicates token_embd as the output tensor).
Bytes head_bytes(const Scenario& scenario, Where embedding, Where head);

}  // namespace headroom::model
