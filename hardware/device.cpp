// Selects the units of a card that multiply a number format.
#include "hardware/device.hpp"

#include <algorithm>

namespace headroom {
namespace {

FlopsPerSecond best(std::initializer_list<std::optional<FlopsPerSecond>> rates) {
  FlopsPerSecond result;
  for (const auto& each : rates)
    if (each) result = std::max(result, *each);
  return result;
}

/// The part of an NVIDIA card's `total` that a program sees. The driver reserves the rest: 350 to
/// 770 MiB of cards with 8 to 180 GiB, on Linux with drivers of 2025 and 2026. On Windows nothing
/// is missing. Source: catalogue/visible_memory.csv.
Bytes seen_of(Bytes total) {
  constexpr double reserved_bytes = 330.0 * (1 << 20), reserved_share = 4.0 / 1024;
  const double all = static_cast<double>(total.count());
  return Bytes(
      static_cast<std::int64_t>(std::max(0.0, all * (1 - reserved_share) - reserved_bytes)));
}

}  // namespace

FlopsPerSecond Device::peak(Arithmetic arithmetic) const {
  // Cards with slower fp16 than fp32 units (Pascal) multiply 16-bit numbers in fp32.
  const FlopsPerSecond half = best({bf16 ? bf16 : fp16, fp32});
  switch (arithmetic) {
    case Arithmetic::fp32:
      return fp32 ? *fp32 : half;
    case Arithmetic::fp16:
      return best({fp16 ? fp16 : bf16, fp32});
    case Arithmetic::fp8:
      return fp8 ? *fp8 : half;
    case Arithmetic::int8:
      return int8 ? *int8 : half;
    case Arithmetic::fp4:
      return fp4 ? *fp4 : half;
    case Arithmetic::bf16:
    case Arithmetic::dequantised:
      return half;
  }
  return half;
}

std::int64_t Device::resident_threads() const {
  if (!compute_capability || multiprocessors == 0) return 0;
  const auto& [major, minor] = *compute_capability;
  const bool turing = major == 7 && minor == 5;
  const bool fewer = (major == 8 && minor > 0) || major >= 11;
  return std::int64_t{multiprocessors} * (turing ? 1024 : fewer ? 1536 : 2048);
}

bool Device::has_units(Arithmetic arithmetic) const {
  switch (arithmetic) {
    case Arithmetic::fp8:
      return fp8.has_value();
    case Arithmetic::int8:
      return int8.has_value();
    case Arithmetic::fp4:
      return fp4.has_value();
    default:
      return true;
  }
}

void set_memory(Device& device, Bytes memory) {
  device.memory = device.visible = memory;
  device.memory_nominal = false;
}

Bytes usable_memory(const Device& device) {
  if (device.visible > Bytes(0)) return device.visible;
  if (!device.unified_memory && device.vendor == "nvidia") return seen_of(device.memory);
  if (!device.unified_memory || device.vendor != "apple") return device.memory;
  const bool small = device.memory <= Bytes(std::int64_t{36} << 30);
  return Bytes(device.memory.count() / 12 * (small ? 8 : 9));
}

}  // namespace headroom
