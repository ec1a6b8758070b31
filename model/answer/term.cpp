#include "model/answer/term.hpp"

#include <utility>

namespace headroom::model {

std::string_view name_of(TermUnit unit) { return unit == TermUnit::bytes ? "bytes" : "seconds"; }

Term exact_bytes(std::string name, Bytes bytes, std::string formula, std::string numbers,
                 std::string_view source) {
  const double value = real_count(bytes);
  return {.name = std::move(name),
          .unit = TermUnit::bytes,
          .low = value,
          .expected = value,
          .high = value,
          .formula = std::move(formula),
          .numbers = std::move(numbers),
          .source = std::string(source)};
}

}  // namespace headroom::model
