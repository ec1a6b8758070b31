// Sums over layers that were worked out before: passes of a block run the same few ranges.
#pragma once

#include <vector>

#include "model/infer/timeline/work.hpp"

namespace headroom::model {

/// Sums of one model on one card. New ones replace those with the same place in the table.
class KnownSums {
 public:
  /// Valid until the next call.
  const LayerSums& of(const Scenario& scenario, const AttentionRules& rules, Range layers,
                      Content content) {
    if (all_.empty()) all_.resize(places);
    LayerSums& known = all_[place_of(layers, content)];
    if (!(known.layers == layers && known.content == content)) [[unlikely]]
      known = sums_of(scenario, rules, layers, content);
    return known;
  }

 private:
  static constexpr std::size_t places = 32;
  static std::size_t place_of(Range layers, Content content) {
    const Size mixed = layers.first + 3 * layers.last + 5 * static_cast<Size>(content);
    return static_cast<std::size_t>(mixed) % places;
  }

  std::vector<LayerSums> all_;
};

}  // namespace headroom::model
