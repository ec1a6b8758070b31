#include "hardware/embedded.hpp"

namespace headroom {

std::string_view EmbeddedFiles::content(std::string_view name) const {
  std::size_t low = 0, high = size_;
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if ((*this)[middle].name < name)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == size_ || (*this)[low].name != name) return {};
  return (*this)[low].bytes;
}

}  // namespace headroom
