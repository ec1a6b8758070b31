// libFuzzer target: any bytes as the TOML of a custom model.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "sweep/sources/custom_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom;
  try {
    const auto m =
        sweep::model_from_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml", {});
    if (m.profile.parameters < 1 || m.profile.parameters_active > m.profile.parameters)
      __builtin_trap();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
