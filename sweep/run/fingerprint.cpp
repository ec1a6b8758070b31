// Hashes of every field of what a result depends on.
#include "sweep/run/fingerprint.hpp"

#include <fmt/format.h>

#include <string_view>

#include "model/checkpoint/quantisation/stored.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/measured_constants.hpp"
#include "sweep/run/hash.hpp"
#include "sweep/run/source_hash.hpp"

namespace headroom::sweep {

std::int64_t fingerprint(const model::Model& model) {
  Hash hash;
  hash.add(model.name);
  hash.add(model.architecture);
  hash.add(model.checkpoint_scheme);
  hash.add(model.checkpoint);
  hash.add(model.rope_factors);
  hash.add(model.encoder_decoder);
  hash.add(model.multi_token_prediction);
  hash.add(model.shape);
  hash.add(model.part);
  hash.add(model.undescribed);
  if (!model.stored) return hash.value();
  hash.add(model.stored->detail);
  hash.add(model.stored->keeps_checkpoint_formats);
  hash.add(model.stored->comparison);
  hash.add(model.stored->totals.parameters);
  hash.add(model.stored->totals.bytes);
  return hash.value();
}

std::int64_t fingerprint(const Machine& machine) {
  Hash hash;
  for (Device device : machine.devices) {
    device.title.clear();
    device.aliases.clear();
    device.source.clear();
    device.date.clear();
    device.launched.clear();
    device.list_price_usd.reset();
    device.conflicts.clear();
    hash.add(device);
  }
  Host host = machine.host;
  host.title.clear();
  host.aliases.clear();
  host.source.clear();
  host.date.clear();
  hash.add(host);
  return hash.value();
}

std::int64_t fingerprint(const model::Engine& runtime) {
  Hash hash;
  hash.add(runtime.name);
  hash.add(runtime.version);
  for (const model::EngineField& field : model::engine_fields())
    hash.add(model::text_of(field, runtime));
  for (const model::NamedConstant& each : model::named_constants()) {
    if (each.of_engine) {
      hash.add(each.in(runtime));
      continue;
    }
    for (const auto& by_width : runtime.kernels.efficiency)
      for (const model::KernelEfficiency& rates : by_width) hash.add(rates.*each.of_efficiency);
  }
  return hash.value();
}

std::string program_version() {
  return fmt::format("{}+{}", HEADROOM_VERSION, std::string_view(source_hash).substr(0, 16));
}

std::string fingerprint(const report::RunInfo& info) {
  Hash hash;
  hash.add(info.version);
  hash.add(info.spec);
  for (const auto& grid : info.grids) {
    hash.add(grid.excluded);
    for (const auto& digit : grid.digits)
      for (const auto& axis : digit) {
        hash.add(axis.column);
        hash.add(axis.values);
        hash.add(axis.fingerprints);
      }
  }
  return hash.text();
}

}  // namespace headroom::sweep
