#include "model/answer/term.hpp"

#include <utility>

namespace headroom::model {

std::string_view name_of(TermUnit unit) { return unit == TermUnit::bytes ? "bytes" : "seconds"; }

Term bytes_between(std::string name, double low, double expected, double high, std::string formula,
                   std::string numbers, std::string_view source) {
  return {.name = std::move(name),
          .unit = TermUnit::bytes,
          .low = low,
          .expected = expected,
          .high = high,
          .formula = std::move(formula),
          .numbers = std::move(numbers),
          .source = std::string(source)};
}

Term exact_bytes(std::string name, Bytes bytes, std::string formula, std::string numbers,
                 std::string_view source) {
  const double value = real_count(bytes);
  return bytes_between(std::move(name), value, value, value, std::move(formula), std::move(numbers),
                       source);
}

}  // namespace headroom::model
