// The compute capability of an NVIDIA card.
#pragma once

#include <charconv>
#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// The compute capability of an NVIDIA generation, as "9.0". Ordered by generation. Source: CUDA
/// C++ programming guide, "Compute Capabilities".
struct ComputeCapability {
  int major = 0, minor = 0;
  constexpr auto operator<=>(const ComputeCapability&) const = default;

  /// 8.9 as the number 8.9.
  constexpr double number() const { return major + minor / 10.0; }
};

/// Empty unless `text` is two whole numbers with a point between them.
inline std::optional<ComputeCapability> parse_compute_capability(std::string_view text) {
  ComputeCapability result;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, result.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, result.minor);
  if (minor.ec != std::errc() || minor.ptr != end) return std::nullopt;
  if (result.major < 1 || result.minor < 0 || result.minor > 9) return std::nullopt;
  return result;
}

/// "9.0"; empty for a card that has none.
inline std::string to_string(const std::optional<ComputeCapability>& capability) {
  if (!capability) return {};
  return std::to_string(capability->major) + '.' + std::to_string(capability->minor);
}

}  // namespace headroom
