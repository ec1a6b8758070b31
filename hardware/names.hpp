// Names that users type: looked up without case, with the nearest known ones in the error.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A name that no table has. The message says what was asked for, and the nearest names.
class UnknownName : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Up to `most` of `known` that are nearest to `name` by edit distance, best first.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 std::size_t most = 3);

/// Message: unknown `kind` 'name'; nearest: a, b, c.
UnknownName unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string> known);

/// ASCII lower case.
std::string lower(std::string_view text);

}  // namespace headroom
