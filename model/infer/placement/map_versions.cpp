// Since which version of transformers a device map's names exist.
#include <algorithm>
#include <string>

#include "model/describe/class_versions.hpp"
#include "model/infer/placement/device_map.hpp"

namespace headroom::model {

std::string_view names_since(const Model& model, const DeviceMap& map) {
  const NamesSince since = names_of_class_since(model.architecture);
  const bool inside = std::ranges::any_of(map, [&](const auto& entry) {
    return std::ranges::any_of(model.part.blocks, [&](const std::string& block) {
      return entry.first.starts_with(block + '.');
    });
  });
  return inside ? since.inside : since.blocks;
}

}  // namespace headroom::model
