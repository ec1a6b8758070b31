// libFuzzer target: any bytes as the spec of a sweep.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sweep/spec/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::sweep;
  try {
    const Spec spec = parse_spec({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    for (const GridSpec& grid : spec.grids)
      if (grid.values("models").empty() || grid.values("machines").empty()) __builtin_trap();
  } catch (const SpecError&) {
  }
  return 0;
}
