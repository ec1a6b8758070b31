#include "model/engine/runtime.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "hardware/names.hpp"
#include "model/engine/runtime_measured.hpp"
#include "model/engine/runtime_rows.hpp"

namespace headroom::model {

CardClass card_class(const Device& device) {
  const std::string_view vendor = device.vendor;
  constexpr double stacked_memory = 1e12;
  if (vendor == "apple") return CardClass::apple;
  if (vendor == "amd" && device.bandwidth.value() < stacked_memory) return CardClass::radeon;
  if (vendor != "nvidia") return CardClass::other;
  if (!device.compute_capability) return CardClass::gddr;
  const ComputeCapability capability = *device.compute_capability;
  const bool stacked =
      (capability.minor == 0 && capability.major != 12) || capability == ComputeCapability{10, 3};
  if (!stacked) return CardClass::gddr;
  return capability.major < 9 ? CardClass::hbm : CardClass::hopper;
}

const CacheFormat* Engine::cache_format(const Precision& precision) const {
  const auto found = std::ranges::find(caches, precision.name, &CacheFormat::precision);
  return found == caches.end() ? nullptr : &*found;
}

double bytes_per_parameter(const QuantisedModel& weights) {
  const Profile& profile = weights.model->profile;
  const auto parameters = static_cast<double>(profile.parameters - profile.outside.parameters);
  return parameters > 0 ? weights.layers_before.back().real().value() / parameters : 2;
}

Width width_of(const QuantisedModel& weights) {
  const double bits = 8 * bytes_per_parameter(weights);
  if (bits >= 12) return Width::sixteen;
  if (bits < 6.5) return weights.scheme->family == SchemeFamily::fp4 ? Width::fp4 : Width::four;
  return weights.scheme->family == SchemeFamily::fp8 ? Width::fp8 : Width::eight;
}

std::span<const Engine> engines() {
  static const std::vector<Engine> all = [] {
    std::vector<Engine> rows = policy_rows();
    apply_measured(rows);
    return rows;
  }();
  return all;
}

const Engine& engine(std::string_view name) {
  const std::string wanted = lower(name);
  std::vector<std::string> known;
  for (const Engine& row : engines()) {
    if (row.name == wanted) return row;
    known.emplace_back(row.name);
  }
  throw unknown_name("runtime", name, known);
}

}  // namespace headroom::model
