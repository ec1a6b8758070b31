#include "model/engine/card_class.hpp"

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
  if (!stacked || device.unified_memory)
    return capability < ComputeCapability{8, 9} ? CardClass::gddr : CardClass::ada;
  return capability.major < 9 ? CardClass::hbm : CardClass::hopper;
}

double bytes_per_layer_parameter(const QuantisedModel& weights) {
  const Profile& profile = weights.model->profile;
  const auto parameters = static_cast<double>(profile.parameters - profile.outside.parameters);
  return parameters > 0 ? weights.layers_before.back().real().value() / parameters : 2;
}

Width width_of(const QuantisedModel& weights) {
  const double bits = 8 * bytes_per_layer_parameter(weights);
  if (bits >= 12) return Width::sixteen;
  if (bits < 6.5) return weights.scheme->family == SchemeFamily::fp4 ? Width::fp4 : Width::four;
  return weights.scheme->family == SchemeFamily::fp8 ? Width::fp8 : Width::eight;
}

}  // namespace headroom::model
