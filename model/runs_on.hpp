// Whether an engine has kernels for the cards of a machine.
#pragma once

#include <algorithm>

#include "hardware/machine.hpp"
#include "model/runtime.hpp"

namespace headroom::model {

/// A card by its figures alone has no maker: taken to be one that runs.
inline bool runs_on(const Runtime& runtime, const Machine& machine) {
  return std::ranges::all_of(machine.devices, [&](const Device& card) {
    return card.vendor.empty() ||
           std::ranges::find(runtime.vendors, card.vendor) != runtime.vendors.end();
  });
}

}  // namespace headroom::model
