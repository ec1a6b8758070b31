// What the times of a pass are added up from, stretch by stretch, for those who want to see it
// (model/answer/breakdown.hpp).
#pragma once

#include <vector>

#include "model/infer/timeline/rates.hpp"

namespace headroom::model {

/// What a stretch of a pass goes over, or waits for.
enum class Over : std::uint8_t { cards, cpu, bus, disk, reduce, launches, eager, crossings };

/// One layer, a part of it, or an end of the model.
struct Item {
  enum class Kind : std::uint8_t { layer, head, embedding };
  Kind kind = Kind::layer;
  LayerSpan piece{};  ///< of one layer
  Work work{};        ///< on cards and CPU
  double state = 0;   ///< bytes of recurrent state, among work.cache_bytes
  double moved = 0;   ///< bytes over bus, disk or link
};

/// Items that share a device and its roofline; or a wait, without items.
struct Stretch {
  Over over = Over::cards;
  Size first = 0, last = 0;  ///< cards [first, last) that do the same at once
  std::vector<Item> items{};
  Rate rate{};         ///< what cards and CPU reach
  double seconds = 0;  ///< of the pass: stretches add up to its total
  double hidden = 0;   ///< seconds behind other stretches
  double moved = 0;    ///< bytes over a link, all items together
  double kernels = 0;  ///< that are launched
};
using Record = std::vector<Stretch>;

}  // namespace headroom::model
