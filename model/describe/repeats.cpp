#include "model/describe/repeats.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "model/describe/block_finder.hpp"
#include "model/describe/profile.hpp"

namespace headroom::model {
namespace {

/// `path` and `other` are equal below their layers.
bool same_below(std::string_view path, std::size_t layer, std::string_view other,
                std::size_t other_layer) {
  return path.substr(layer) == other.substr(other_layer);
}

/// True for tensors that only their names tell apart.
bool same_tensor(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && a.role == b.role && a.used == b.used && a.of == b.of &&
         a.element == b.element && a.persistent == b.persistent && a.rows_read == b.rows_read &&
         a.tied_to.empty() && b.tied_to.empty();
}

/// A matrix that is no part of the layer. Other layers decide if it is the last of its stack.
bool is_layer_itself(const Tensor& tensor, std::string_view layer) {
  return tensor.role == Role::matmul && tensor.module().size() <= layer.size();
}

}  // namespace

Repeats::Repeats(const Part& part, const std::vector<Layer>& layers, std::vector<Size> blocks)
    : blocks_(std::move(blocks)),
      members_(layers.size() + 2),
      tensors_(layers.size()),
      modules_(layers.size()),
      first_(part.tensors.size()),
      first_layer_(layers.size()),
      first_module_(part.modules.size(), true) {
  find_members();
  find_tensors();
  find_modules(part, layers);
  std::iota(first_.begin(), first_.end(), 0);
  std::vector<std::size_t> kinds;
  for (std::size_t layer = 0; layer < tensors_.size(); ++layer) {
    first_layer_[layer] = layer;
    constexpr std::ptrdiff_t most_compared = 8;
    const auto end = kinds.rbegin() + std::min(std::ssize(kinds), most_compared);
    const auto found = std::find_if(kinds.rbegin(), end, [&](std::size_t earlier) {
      return repeats(part, layers, layer, earlier);
    });
    if (found == end) {
      kinds.push_back(layer);
      continue;
    }
    first_layer_[layer] = *found;
    std::iota(first_.begin() + static_cast<std::ptrdiff_t>(tensors_[layer].first),
              first_.begin() + static_cast<std::ptrdiff_t>(tensors_[layer].last),
              tensors_[*found].first);
    std::fill(first_module_.begin() + static_cast<std::ptrdiff_t>(modules_[layer].first),
              first_module_.begin() + static_cast<std::ptrdiff_t>(modules_[layer].last), false);
  }
}

std::size_t Repeats::place_of(Size block) const {
  if (block >= 0) return static_cast<std::size_t>(block);
  return members_.size() - (block == before_blocks ? 2 : 1);
}

std::span<const std::size_t> Repeats::members(Size block) const {
  if (members_.empty()) return {};  // the model has no profile
  return members_[place_of(block)];
}

void Repeats::find_members() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) members_[place_of(blocks_[i])].push_back(i);
}

void Repeats::find_tensors() {
  for (std::size_t layer = 0; layer < tensors_.size(); ++layer)
    if (const auto& all = members_[layer];
        !all.empty() && all.back() - all.front() + 1 == all.size())
      tensors_[layer] = {all.front(), all.back() + 1};
}

/// Layers and their modules stand in the same order.
void Repeats::find_modules(const Part& part, const std::vector<Layer>& layers) {
  const std::vector<Module>& modules = part.modules;
  std::size_t i = 0;
  for (std::size_t layer = 0; layer < modules_.size(); ++layer) {
    const std::string& path = layers[layer].path;
    while (i < modules.size() && modules[i].path != path) ++i;
    modules_[layer].first = i;
    while (i < modules.size() && is_within(modules[i].path, path)) ++i;
    modules_[layer].last = i;
  }
}

bool Repeats::repeats(const Part& part, const std::vector<Layer>& layers, std::size_t layer,
                      std::size_t earlier) const {
  const Layer &a = layers[layer], &b = layers[earlier];
  const TableRange tensors = tensors_[layer], others = tensors_[earlier];
  const TableRange modules = modules_[layer], other_modules = modules_[earlier];
  if (tensors.size() == 0 || tensors.size() != others.size() || modules.size() == 0 ||
      modules.size() != other_modules.size() || a.decodes != b.decodes ||
      stack_of(a.path) != stack_of(b.path))
    return false;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = part.tensors[tensors.first + i];
    const Tensor& other = part.tensors[others.first + i];
    if (!same_below(tensor.name, a.path.size(), other.name, b.path.size()) ||
        !same_tensor(tensor, other) || is_layer_itself(tensor, a.path))
      return false;
  }
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const Module& module = part.modules[modules.first + i];
    const Module& other = part.modules[other_modules.first + i];
    if (!same_below(module.path, a.path.size(), other.path, b.path.size()) ||
        module.class_name != other.class_name)
      return false;
  }
  return true;
}

}  // namespace headroom::model
