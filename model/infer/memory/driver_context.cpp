#include "model/infer/memory/driver_context.hpp"

#include <algorithm>

namespace headroom::model {

double context_of_threads(const Engine& engine, const Device& device) {
  const Size threads = device.resident_threads();
  if (threads == 0) return 0;
  return engine.memory.context_thread_bytes.value * static_cast<double>(threads - usual_threads);
}

Bytes driver_context(const Engine& engine, const Device& device) {
  const double all = engine.memory.context_bytes.value + context_of_threads(engine, device);
  return Bytes(static_cast<Size>(std::max(0.0, all)));
}

}  // namespace headroom::model
