// The repeated layer that a module, tensor or cache is in.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

inline bool is_within(std::string_view path, std::string_view block) {
  return path.starts_with(block) && (path.size() == block.size() || path[block.size()] == '.');
}

/// The stack that a block is in: its path without its number.
inline std::string_view stack_of(std::string_view block) {
  return block.substr(0, block.rfind('.'));
}

/// Finds the block that holds a path, the outermost where blocks nest. Paths come block by block,
/// so the last answer is tried first.
class BlockFinder {
 public:
  explicit BlockFinder(const std::vector<std::string>& blocks) : blocks_(blocks) {
    for (std::size_t i = 0; i < blocks.size(); ++i) index_.emplace(blocks[i], i);
  }
  /// Its index, or -1.
  Size find(std::string_view path) {
    if (last_ < 0 || !is_within(path, blocks_[static_cast<std::size_t>(last_)]))
      last_ = search(path);
    return last_;
  }

 private:
  Size search(std::string_view path) const {
    for (std::size_t end = path.find('.'); end != std::string_view::npos;
         end = path.find('.', end + 1))
      if (const auto it = index_.find(path.substr(0, end)); it != index_.end())
        return static_cast<Size>(it->second);
    const auto it = index_.find(path);
    return it == index_.end() ? -1 : static_cast<Size>(it->second);
  }

  const std::vector<std::string>& blocks_;
  std::unordered_map<std::string_view, std::size_t> index_;
  Size last_ = -1;
};

}  // namespace headroom::model
