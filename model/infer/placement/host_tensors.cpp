// Sums of the tensors that placement by hand keeps in host memory (layer_split.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "model/checkpoint/gguf/tensor_names.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {
namespace {

/// Sums of one layer.
struct Kept {
  double bytes = 0, dense = 0, routed = 0, multiplied = 0;
};

/// Index of the layer that `tensor` lies in, or -1.
std::ptrdiff_t layer_of(const Model& model, const Tensor& tensor) {
  const auto& layers = model.profile.layers;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (tensor.name.starts_with(layers[i].path) && tensor.name.size() > layers[i].path.size() &&
        tensor.name[layers[i].path.size()] == '.')
      return static_cast<std::ptrdiff_t>(i);
  return -1;
}

std::vector<std::regex> compiled(std::span<const std::string> patterns) {
  std::vector<std::regex> expressions;
  for (const std::string& pattern : patterns) try {
      expressions.emplace_back(pattern);
    } catch (const std::regex_error& e) {
      throw std::invalid_argument(
          fmt::format("'{}' is no regular expression: {}", pattern, e.what()));
    }
  return expressions;
}

}  // namespace

HostTensors tensors_on_host(const QuantisedModel& weights, std::span<const std::string> patterns) {
  const std::vector<std::regex> expressions = compiled(patterns);
  const Model& model = *weights.model;
  const GgufNames names(model);
  const auto tensors = quantised_tensors(model, *weights.scheme);
  std::vector<Kept> kept(model.profile.layers.size());
  HostTensors host;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    for (const GgufName& name : names.of(tensor)) {
      bool matches = false;
      for (const std::regex& expression : expressions)
        matches = matches || std::regex_search(name.name, expression);
      if (!matches || !tensor.is_parameter()) continue;
      ++host.matched;
      const auto layer = layer_of(model, tensor);
      if (layer < 0) {
        host.output = host.output || tensor.role == Role::head;
        continue;
      }
      Kept& sums = kept[static_cast<std::size_t>(layer)];
      const double bytes = tensors[i].bytes.real().value() * name.share;
      sums.bytes += bytes;
      (tensor.of > 1 ? sums.routed : sums.dense) += bytes;
      // As model/describe/profile.cpp counts, which includes the biases of experts.
      if (tensor.of > 1 || tensor.role == Role::matmul || tensor.role == Role::conv)
        sums.multiplied += static_cast<double>(tensor.elements()) * name.share *
                           static_cast<double>(tensor.used) / static_cast<double>(tensor.of);
    }
  }
  host.bytes_before = {Bytes(0)};
  host.read_dense_before = host.read_routed_before = host.multiplied_before = {0};
  host.layers_before = {0};
  for (const Kept& sums : kept) {
    host.bytes_before.push_back(host.bytes_before.back() + Bytes(static_cast<Size>(sums.bytes)));
    host.read_dense_before.push_back(host.read_dense_before.back() + sums.dense);
    host.read_routed_before.push_back(host.read_routed_before.back() + sums.routed);
    host.multiplied_before.push_back(host.multiplied_before.back() + sums.multiplied);
    host.layers_before.push_back(host.layers_before.back() + (sums.bytes > 0 ? 1 : 0));
  }
  return host;
}

HostTensors experts_on_host(const QuantisedModel& weights, Size layers) {
  const Profile& profile = weights.model->profile;
  const auto first = static_cast<std::size_t>(profile.first_decoding);
  const std::size_t end = std::min(first + static_cast<std::size_t>(layers), weights.layer.size());
  HostTensors host;
  double with_experts = 0;
  const auto until_end = [&](const std::vector<double>& before, std::size_t i) {
    return before[std::clamp(i, first, end)] - before[first];
  };
  for (std::size_t i = 0; i <= weights.layer.size(); ++i) {
    host.read_routed_before.push_back(until_end(weights.read_routed, i));
    host.bytes_before.push_back(Bytes(static_cast<Size>(host.read_routed_before.back())));
    host.read_dense_before.push_back(0);
    host.multiplied_before.push_back(until_end(profile.routed_before, i));
    const auto& routed = host.read_routed_before;
    if (i > 0 && routed[i] > routed[i - 1]) with_experts += 1;
    host.layers_before.push_back(with_experts);
  }
  return host;
}

KeptOnHost kept_on_host(const Scenario& s, const Plan& plan, Range layers) {
  if (s.layer_split != nullptr) {
    const HostTensors& host = s.layer_split->on_host;
    if (host.bytes_before.empty()) return {};
    return {between(host.bytes_before, layers), between(host.read_dense_before, layers),
            between(host.read_routed_before, layers), between(host.multiplied_before, layers)};
  }
  const Range moved = intersect(layers, plan.host_experts);
  if (moved.size() <= 0) return {};
  const auto& routed = s.weights->read_routed;
  KeptOnHost kept{.read_routed = between(routed, moved),
                  .multiplied = between(s.weights->model->profile.routed_before, moved)};
  kept.bytes = Bytes(static_cast<Size>(kept.read_routed));
  return kept;
}

double layers_kept_on_host(const Scenario& s, const Plan& plan, Range layers) {
  if (s.layer_split != nullptr) {
    const auto& before = s.layer_split->on_host.layers_before;
    return before.empty() ? 0 : between(before, layers);
  }
  const Range moved = intersect(layers, plan.host_experts);
  double with_experts = 0;
  for (Size layer = moved.first; layer < moved.last; ++layer)
    with_experts += between(s.weights->read_routed, Range{layer, layer + 1}) > 0 ? 1 : 0;
  return with_experts;
}

}  // namespace headroom::model
