#include "model/checkpoint/formats/tensor_header.hpp"

#include <fmt/format.h>

#include <numeric>

namespace headroom::model {

Size TensorHeader::elements() const {
  return std::accumulate(shape.begin(), shape.end(), Size{1}, std::multiplies<>{});
}

std::string shown_name(std::string_view name) {
  std::string text = "'";
  for (const char c : name.substr(0, 80)) text += c < ' ' || c > '~' ? '?' : c;
  return text + (name.size() > 80 ? "...'" : "'");
}

Size checked_elements(const Shape& shape, std::string_view origin, std::string_view tensor) {
  Size elements = 1;
  for (const Size dim : shape)
    if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements))
      throw FormatError(fmt::format("{}: tensor {}: its shape has more than 2^63 - 1 elements",
                                    origin, shown_name(tensor)));
  return elements;
}

Bytes checked_bytes(const Shape& shape, Size bits, std::string_view origin,
                    std::string_view tensor) {
  Size all = 0;
  if (__builtin_mul_overflow(checked_elements(shape, origin, tensor), bits, &all))
    throw FormatError(fmt::format("{}: tensor {}: its shape has more than 2^63 - 1 bits", origin,
                                  shown_name(tensor)));
  if (all % 8 != 0)
    throw FormatError(fmt::format("{}: tensor {}: {} bits do not fill whole bytes", origin,
                                  shown_name(tensor), all));
  return Bytes(all / 8);
}

}  // namespace headroom::model
