#include "model/infer/placement/mapper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headroom::model {
namespace {

constexpr Eighths no_limit = std::numeric_limits<Eighths>::max() / 4;

/// accelerate's walk over a work list of modules and parameters. The list is kept with its front at
/// the back of the vector, since nearly all changes happen there.
class Walk {
 public:
  Walk(const ModuleTree& tree, const MaxMemory& memory, const MapOptions& options)
      : tree_(tree), memory_(memory), options_(options), used_(memory.size()) {
    const bool mps = std::any_of(memory.begin(), memory.end(),
                                 [](const DeviceMemory& d) { return d.device == "mps"; });
    bool first_gpu = true;
    for (const DeviceMemory& d : memory) {
      bool main = d.device == "cpu" && !mps;
      if (mps) main = d.device == "mps";
      if (!mps && d.is_gpu() && first_gpu) {
        main = true;
        first_gpu = false;
      }
      main_.push_back(main);
    }
    place_.assign(tree.nodes().size(), -1);
  }

  /// Index of the device of each node that has an entry in the map, -1 elsewhere.
  std::vector<int> run() {
    const Node& root = tree_.node(0);
    push_front(root.buffers);
    push_front(root.children);
    push_front(root.parameters);
    measure_largest(Rest::all);
    while (!list_.empty()) step();
    return place_;
  }

 private:
  enum class Rest { all, modules };

  bool unsplittable(Size id) const {
    const Node& node = tree_.node(id);
    return node.children.empty() || std::find(options_.no_split.begin(), options_.no_split.end(),
                                              node.class_name) != options_.no_split.end();
  }

  /// The items of `ids`, in their order, before all others.
  void push_front(const std::vector<Size>& ids) {
    list_.insert(list_.end(), ids.rbegin(), ids.rend());
  }

  /// The largest layer of the list, and every layer of that size.
  void measure_largest(Rest rest) {
    largest_ = 0;
    largest_names_.clear();
    for (auto it = list_.rbegin(); it != list_.rend(); ++it)
      if (rest == Rest::all || !tree_.node(*it).is_tensor()) measure(*it);
  }
  void measure(Size id) {
    if (!unsplittable(id)) {
      for (const Size child : tree_.node(id).children) measure(child);
      return;
    }
    const Eighths size = tree_.size(id);
    if (size > largest_) {
      largest_ = size;
      largest_names_.clear();
    }
    if (size == largest_) largest_names_.push_back(id);
  }

  bool inside(Size id, Size ancestor) const {
    return id >= ancestor && id < tree_.node(ancestor).end;
  }

  /// Members outside `name` of the tied groups that reach into it (a substring test, as in
  /// accelerate).
  std::vector<Size> tied_members(Size name) const {
    std::vector<Size> members;
    if (!tree_.node(name).tied) return members;
    const std::string wanted = tree_.node(name).path + '.';
    for (const auto& group : tree_.tied()) {
      std::vector<Size> outside;
      bool any_inside = false;
      for (const std::string& member : group) {
        if ((member + '.').find(wanted) != std::string::npos)
          any_inside = true;
        else
          outside.push_back(tree_.find(member));
      }
      if (any_inside) members.insert(members.end(), outside.begin(), outside.end());
    }
    return members;
  }

  /// The first item of `list` that is a module above each member.
  std::vector<Size> modules_of(const std::vector<Size>& members,
                               const std::vector<Size>& list) const {
    std::vector<Size> modules;
    for (const Size member : members) {
      const auto it = std::find_if(list.rbegin(), list.rend(), [&](Size item) {
        return item != member && inside(member, item);
      });
      if (it == list.rend())
        throw AccelerateFails(
            fmt::format("accelerate fails here with an IndexError: no module left to place holds "
                        "the tied parameter '{}'",
                        tree_.node(member).path));
      const bool seen = std::find(modules.begin(), modules.end(), *it) != modules.end();
      if (options_.mapper == Mapper::accelerate || !seen) modules.push_back(*it);
    }
    return modules;
  }

  Eighths size_with_ties(Size name, const std::vector<Size>& members,
                         const std::vector<Size>& modules) const {
    Eighths size = tree_.size(name);
    for (const Size module : modules) size += tree_.size(module);
    if (options_.mapper == Mapper::accelerate)
      for (const Size member : members) size -= tree_.size(member);
    return size;
  }

  void step() {
    const Size name = list_.back();
    list_.pop_back();
    std::erase_if(largest_names_, [&](Size id) { return inside(id, name); });
    if (largest_names_.empty()) measure_largest(Rest::modules);

    const Eighths size = tree_.size(name);
    const std::vector<Size> members = tied_members(name);
    const bool disk = memory_[device_].device == "disk";
    Eighths limit = disk ? no_limit : memory_[device_].limit;
    const Eighths reserved = !disk && main_[device_] ? largest_ : 0;
    limit -= reserved;
    const std::vector<Size> modules = modules_of(members, list_);
    const Eighths with_ties = size_with_ties(name, members, modules);

    if (disk || used_[device_] + with_ties <= limit) {
      used_[device_] += with_ties;
      place_[static_cast<std::size_t>(name)] = static_cast<int>(device_);
      for (const Size module : modules) {
        std::erase(list_, module);
        place_[static_cast<std::size_t>(module)] = static_cast<int>(device_);
      }
      return;
    }
    if (!members.empty() && used_[device_] + size <= limit && split_a_tied(name, modules)) return;
    const bool too_big = options_.mapper == Mapper::transformers || used_[device_] + size >= limit;
    if (too_big && !tree_.node(name).is_tensor() && !unsplittable(name)) {
      push_front(tree_.node(name).children);
      push_front(tree_.node(name).parameters);
      measure_largest(Rest::modules);
      return;
    }
    if (options_.fallback == Fallback::yes && used_[device_] == 0 && !disk &&
        fall_back(name, memory_[device_].limit - std::max(largest_, with_ties)))
      return;
    used_[device_] += reserved;
    ++device_;
    list_.push_back(name);
  }

  /// Replaces the first tied module that can be split by its parts; `name` comes first again.
  bool split_a_tied(Size name, const std::vector<Size>& modules) {
    for (const Size module : modules) {
      if (unsplittable(module)) continue;
      expand_in_place(list_, module);
      list_.push_back(name);
      measure_largest(Rest::modules);
      return true;
    }
    return false;
  }

  void expand_in_place(std::vector<Size>& list, Size module) const {
    const auto at = std::find(list.rbegin(), list.rend(), module);
    const auto position = list.rend() - at - 1;
    list.erase(list.begin() + position);
    std::vector<Size> parts(tree_.node(module).children.rbegin(),
                            tree_.node(module).children.rend());
    parts.insert(parts.end(), tree_.node(module).parameters.rbegin(),
                 tree_.node(module).parameters.rend());
    list.insert(list.begin() + position, parts.begin(), parts.end());
  }

  /// With nothing on the device yet: the first module further on that fits in `room` goes there.
  bool fall_back(Size name, Eighths room) {
    if (room < 0) return false;
    std::vector<Size> search = list_;
    Size found = -1;
    while (!search.empty() && found < 0) {
      const Size item = search.back();
      search.pop_back();
      const std::vector<Size> members = tied_members(item);
      if (size_with_ties(item, members, modules_of(members, search)) <= room) {
        found = item;
        break;
      }
      if (tree_.node(item).is_tensor() || unsplittable(item)) continue;
      search.insert(search.end(), tree_.node(item).children.rbegin(),
                    tree_.node(item).children.rend());
      search.insert(search.end(), tree_.node(item).parameters.rbegin(),
                    tree_.node(item).parameters.rend());
    }
    if (found < 0) return false;
    for (Size parent = above(found); parent >= 0; parent = above(found))
      expand_in_place(list_, parent);
    std::erase(list_, found);
    list_.push_back(name);
    list_.push_back(found);
    return true;
  }

  /// An item of the list that is strictly above `id`, or -1.
  Size above(Size id) const {
    for (const Size item : list_)
      if (item != id && inside(id, item)) return item;
    return -1;
  }

  const ModuleTree& tree_;
  const MaxMemory& memory_;
  const MapOptions& options_;
  std::vector<Eighths> used_;
  std::vector<bool> main_;
  std::vector<int> place_;
  std::vector<Size> list_, largest_names_;
  Eighths largest_ = 0;
  std::size_t device_ = 0;
};

}  // namespace

DeviceMap infer_device_map(const ModuleTree& tree, const MaxMemory& memory,
                           const MapOptions& options) {
  const std::vector<int> place = Walk(tree, memory, options).run();
  if (options.clean == Clean::yes) return cleaned(tree, memory, place);
  DeviceMap map;
  for (std::size_t i = 0; i < place.size(); ++i)
    if (place[i] >= 0)
      map.emplace_back(tree.nodes()[i].path, memory[static_cast<std::size_t>(place[i])].device);
  return map;
}

}  // namespace headroom::model
