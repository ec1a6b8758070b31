// libFuzzer target: any bytes as a user's file of devices, processors and hosts.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "hardware/catalogue.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    headroom::overlay({}, {reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const std::runtime_error&) {
  }
  return 0;
}
