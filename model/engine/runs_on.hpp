// Checks that an engine has kernels for the cards of a machine, and code for a model.
#pragma once

#include <algorithm>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// A card by its figures alone has no maker: taken to be one that runs.
inline bool runs_on(const Engine& runtime, const Machine& machine) {
  return std::ranges::all_of(machine.devices, [&](const Device& card) {
    return card.vendor.empty() ||
           std::ranges::find(runtime.vendors, card.vendor) != runtime.vendors.end();
  });
}

/// True if it has the model's class. Decoders are taken to be had.
inline bool has_class(const Engine& runtime, const Model& model) {
  return !model.encoder_decoder || !runtime.encoder_decoders ||
         std::ranges::find(*runtime.encoder_decoders, model.architecture) !=
             runtime.encoder_decoders->end();
}

}  // namespace headroom::model
