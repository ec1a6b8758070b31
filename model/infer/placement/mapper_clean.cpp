// accelerate's clean_device_map: one entry where everything below a module is on one device.
#include "model/infer/placement/mapper.hpp"

namespace headroom::model {
namespace {

/// Entries of one device below a module become one entry, where there are several.
class Cleaner {
 public:
  Cleaner(const ModuleTree& tree, const MaxMemory& memory, const std::vector<int>& place)
      : tree_(tree), memory_(memory), place_(place) {}

  DeviceMap run() {
    clean(0);
    return std::move(map_);
  }

 private:
  void emit(Size id, int device) {
    map_.emplace_back(tree_.node(id).path, memory_[static_cast<std::size_t>(device)].device);
  }
  /// Entries at and below a node. There are none below a node with an entry.
  struct Below {
    int device = -1, entries = 0;
    bool same = true;
  };
  template <class F>
  void for_each_below(Size id, F&& f) const {
    const Node& node = tree_.node(id);
    for (const auto* ids : {&node.parameters, &node.children, &node.buffers})
      for (const Size below : *ids) f(below);
  }
  Below below(Size id) const {
    if (const int device = place_[static_cast<std::size_t>(id)]; device >= 0)
      return {device, 1, true};
    Below all;
    for_each_below(id, [&](Size child) {
      const Below one = below(child);
      if (one.entries == 0) return;
      all.same = all.same && one.same && (all.entries == 0 || one.device == all.device);
      all.device = one.device;
      all.entries += one.entries;
    });
    return all;
  }
  void clean(Size id) {
    if (place_[static_cast<std::size_t>(id)] >= 0) {
      emit(id, place_[static_cast<std::size_t>(id)]);
      return;
    }
    const Below all = below(id);
    if (all.entries == 0) return;
    if (all.same && all.entries > 1)
      emit(id, all.device);
    else
      for_each_below(id, [&](Size child) { clean(child); });
  }

  const ModuleTree& tree_;
  const MaxMemory& memory_;
  const std::vector<int>& place_;
  DeviceMap map_;
};

}  // namespace

DeviceMap cleaned(const ModuleTree& tree, const MaxMemory& memory, const std::vector<int>& place) {
  return Cleaner(tree, memory, place).run();
}

}  // namespace headroom::model
