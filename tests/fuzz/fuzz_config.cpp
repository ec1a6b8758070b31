// libFuzzer target: any bytes as a config.json, described and quantised in its own precision.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom::model;
  try {
    const Config config = parse_config({reinterpret_cast<const char*>(data), size}, "fuzz");
    const Model model = make_model("fuzz", config, "fuzz");
    const QuantisedModel weights = quantise(model, scheme(model.checkpoint_scheme));
    headroom::Bytes sum = weights.embedding + weights.head;
    for (const headroom::Bytes layer : weights.layer) sum += layer;
    if (sum != weights.total) __builtin_trap();
  } catch (const ConfigError&) {
  }
  return 0;
}
