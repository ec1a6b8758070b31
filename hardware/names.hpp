// Case-insensitive lookup of names that users type. Errors list the nearest known names.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// An unknown name. The message quotes it and lists the nearest names.
class UnknownName : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Up to `most` names of `known` by edit distance, nearest first.
std::vector<std::string> nearest(std::string_view name, std::span<const std::string> known,
                                 std::size_t most = 3);

/// Builds the message: unknown `kind` 'name'; nearest: a, b, c.
UnknownName unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string> known);

/// ASCII lower case.
std::string lower(std::string_view text);

}  // namespace headroom
