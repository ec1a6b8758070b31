// One printed line of an estimate: an amount with its rule, its numbers and its source.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hardware/units.hpp"

namespace headroom::model {

enum class TermUnit : std::uint8_t { bytes, seconds };
std::string_view name_of(TermUnit unit);

struct Term {
  std::string name;
  TermUnit unit;
  double low, expected, high;    ///< in `unit`; the ends of the 80 % interval
  std::string formula, numbers;  ///< the rule, and the same with the numbers put in
  std::string source;
};
Term bytes_between(std::string name, double low, double expected, double high, std::string formula,
                   std::string numbers, std::string_view source);
/// A term without an interval.
Term exact_bytes(std::string name, Bytes bytes, std::string formula, std::string numbers,
                 std::string_view source);

}  // namespace headroom::model
