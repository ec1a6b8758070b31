// Models of the catalogue and hand-made machines for tests that need a scenario, not a catalogue
// row.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "hardware/catalogue.hpp"
#include "hardware/embedded.hpp"
#include "hardware/machine.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::test {

/// The catalogue model called `name` ("Qwen/Qwen3-0.6B"), built once.
inline const model::Model& catalogue_model(const std::string& name) {
  static std::map<std::string, std::unique_ptr<model::Model>> built;
  auto& slot = built[name];
  if (!slot) {
    std::string file = name + ".json";
    if (const auto slash = file.find('/'); slash != std::string::npos) file.replace(slash, 1, "__");
    for (const EmbeddedFile& f : embedded_models())
      if (f.name == file)
        slot = std::make_unique<model::Model>(
            model::make_model(name, model::parse_config(f.bytes, file), "catalogue"));
    if (!slot) throw std::runtime_error("no catalogue model " + name);
  }
  return *slot;
}

/// `cards` equal cards of `card_gib` in a host with `ram_gib` and `disk_gib`.
inline Machine machine(Size cards, Size card_gib, Size ram_gib, Size disk_gib = 2000) {
  const Bytes gib(Size{1} << 30);
  Device device;
  device.name = "test card";
  set_memory(device, card_gib * gib);
  device.bandwidth = BytesPerSecond(1.5e12);
  device.fp32 = FlopsPerSecond(20e12);
  device.bf16 = device.fp16 = FlopsPerSecond(300e12);
  device.host_bus = BytesPerSecond(25e9);
  device.link = BytesPerSecond(300e9);
  Machine m;
  m.name = "test machine";
  m.devices.assign(static_cast<std::size_t>(cards), device);
  m.host.name = "test host";
  m.host.ram = ram_gib * gib;
  m.host.ram_bandwidth = BytesPerSecond(200e9);
  m.host.cpu_peak = FlopsPerSecond(2e12);
  m.host.disk = disk_gib * gib;
  m.host.disk_read = BytesPerSecond(3e9);
  return m;
}

inline model::Scenario scenario(const model::QuantisedModel& weights, const Machine& machine,
                                std::string_view runtime) {
  model::Scenario s;
  s.weights = &weights;
  s.machine = &machine;
  s.runtime = &model::engine(runtime);
  s.kv_precision = &precision("bf16");
  return s;
}

/// A model in a precision on named cards under an engine; the scenario points into the rest.
struct OnCards {
  OnCards(const char* model, const char* precision, const char* cards, const char* engine)
      : weights(quantise(catalogue_model(model), model::scheme(precision))),
        box(parse_machine(cards, shipped_catalogue())),
        s(scenario(weights, box, engine)) {}
  OnCards(const OnCards&) = delete;
  OnCards& operator=(const OnCards&) = delete;
  model::QuantisedModel weights;
  Machine box;
  model::Scenario s;
};

}  // namespace headroom::test
