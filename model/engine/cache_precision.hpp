// The formats of keys and of values in a cache.
#pragma once

#include <string>
#include <string_view>

#include "hardware/precision.hpp"

namespace headroom::model {

/// The formats of keys and of values in a cache. Most engines have one format for both.
struct CachePrecision {
  const Precision* keys = nullptr;    ///< null: the engine decides
  const Precision* values = nullptr;  ///< null: the engine decides

  CachePrecision() = default;
  CachePrecision(const Precision* both) : keys(both), values(both) {}
  CachePrecision(const Precision* of_keys, const Precision* of_values)
      : keys(of_keys), values(of_values) {}
  bool operator==(const CachePrecision&) const = default;

  bool differ() const { return keys != values; }
  /// False if the engine decides the format of keys or of values.
  bool is_complete() const { return keys != nullptr && values != nullptr; }
  /// With `usual` where the engine decides.
  CachePrecision completed(const Precision& usual) const {
    return {keys != nullptr ? keys : &usual, values != nullptr ? values : &usual};
  }
  /// Mean bytes of an element of keys and one of values. Both formats are known.
  double element_bytes() const { return (keys->element_bytes() + values->element_bytes()) / 2; }
  /// "q8_0" for both, "q8_0/q4_0" for keys and values. "auto": the engine decides.
  std::string name() const;
};

/// The formats that `name` asks for: "q8_0" for keys and values, "q8_0/q4_0" for each. "auto"
/// leaves either to default_cache(). Throws UnknownName for other words.
CachePrecision asked_cache(std::string_view name);

}  // namespace headroom::model
