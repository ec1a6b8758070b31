#include "sweep/accuracy/processors.hpp"

#include <array>

namespace headroom::sweep {

const Processor* processor_in(std::string_view cpu) {
  const Processor* found = nullptr;
  for (const auto& all : std::array{amd_processors(), intel_processors()})
    for (const Processor& each : all)
      if (cpu.find(each.written) != cpu.npos &&
          (found == nullptr || each.written.size() > found->written.size()))
        found = &each;
  return found;
}

}  // namespace headroom::sweep
