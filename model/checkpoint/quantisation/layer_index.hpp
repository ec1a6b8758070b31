// Finds the layer that a tensor belongs to.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>

#include "model/describe/profile.hpp"

namespace headroom::model {

/// Layers by their paths. Holds pointers to `layers`, which must outlive it.
class LayerIndex {
 public:
  explicit LayerIndex(std::span<const Layer> layers) {
    for (const Layer& layer : layers) layers_.emplace(layer.path, &layer);
  }
  /// The outermost layer whose path is a parent of `tensor`'s name. Null if there is none.
  const Layer* of(std::string_view tensor) const {
    for (auto dot = tensor.find('.'); dot != tensor.npos; dot = tensor.find('.', dot + 1))
      if (const auto it = layers_.find(tensor.substr(0, dot)); it != layers_.end())
        return it->second;
    return nullptr;
  }

 private:
  std::unordered_map<std::string_view, const Layer*> layers_;
};

}  // namespace headroom::model
