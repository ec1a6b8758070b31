#include "report/packed_field.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace headroom::report {

std::int64_t PackedField::packed(std::int64_t value) const {
  if (value < 0 || value > most())
    throw std::out_of_range(
        fmt::format("{} = {} cannot be stored: it must be between 0 and {}", name, value, most()));
  return value << first;
}

std::string PackedField::sql() const {
  return first == 0 ? fmt::format("{} & {}", column, most())
                    : fmt::format("{} >> {} & {}", column, first, most());
}

}  // namespace headroom::report
