// What an optimizer keeps beside the weights. So far Adam alone; training estimates will add rows.
#pragma once

#include "model/model.hpp"

namespace headroom::model {

/// Bytes of the states of Adam and AdamW over every trained parameter, tied ones once.
///
///   2 * parameters * element_bytes
///
/// the first and the second moment, in the precision they are held in (4 where the moments are
/// fp32). Source: Kingma & Ba, arXiv:1412.6980, algorithm 1. Left out: step counters, master
/// weights.
inline Bytes adam_states(const Model& model, Size element_bytes) {
  return 2 * element_bytes * Bytes(model.profile.parameters);
}

}  // namespace headroom::model
