// Sums of the tensors that placement by hand keeps in host memory (layer_split.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
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

/// Rules with compiled expressions.
class Rules {
 public:
  explicit Rules(std::span<const TensorRule> rules) : rules_(rules) {
    for (const TensorRule& rule : rules) try {
        expressions_.emplace_back(rule.pattern);
      } catch (const std::regex_error& e) {
        throw std::invalid_argument(
            fmt::format("'{}' is no regular expression: {}", rule.pattern, e.what()));
      }
  }
  /// The first rule for a tensor; null: none.
  const TensorRule* of(const std::string& name) const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (std::regex_search(name, expressions_[i])) return &rules_[i];
    return nullptr;
  }

 private:
  std::span<const TensorRule> rules_;
  std::vector<std::regex> expressions_;
};

/// Adds `bytes` of a layer to the list of a card. A negative layer is outside all.
void put_on_card(HostTensors& host, Size card, std::ptrdiff_t layer, std::size_t layers,
                 double bytes) {
  auto& lists = host.on_card_before;
  const auto index = static_cast<std::size_t>(card);
  if (lists.size() <= index) lists.resize(index + 1, std::vector<Bytes>(layers + 1));
  if (layer >= 0)
    lists[index][static_cast<std::size_t>(layer) + 1] += Bytes(static_cast<Size>(bytes));
}

}  // namespace

HostTensors tensors_on_host(const QuantisedModel& weights, std::span<const std::string> patterns) {
  std::vector<TensorRule> rules;
  for (const std::string& pattern : patterns) rules.push_back({pattern});
  return tensors_by_rules(weights, rules);
}

HostTensors tensors_by_rules(const QuantisedModel& weights, std::span<const TensorRule> given) {
  const Rules rules(given);
  const Model& model = *weights.model;
  const GgufNames names(model);
  const auto tensors = quantised_tensors(model, *weights.scheme);
  std::vector<Kept> kept(model.profile.layers.size());
  HostTensors host;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    for (const GgufName& name : names.of(tensor)) {
      const TensorRule* rule = tensor.is_parameter() ? rules.of(name.name) : nullptr;
      if (rule == nullptr) continue;
      ++host.matched;
      const auto layer = layer_of(model, tensor);
      const double bytes = tensors[i].bytes.real().value() * name.share;
      if (rule->card != TensorRule::host) {
        put_on_card(host, rule->card, layer, kept.size(), bytes);
        continue;
      }
      if (layer < 0) {
        host.output = host.output || tensor.role == Role::head;
        continue;
      }
      Kept& sums = kept[static_cast<std::size_t>(layer)];
      sums.bytes += bytes;
      (tensor.of > 1 ? sums.routed : sums.dense) += bytes;
      // As model/describe/profile.cpp counts, which includes the biases of experts.
      if (tensor.of > 1 || tensor.role == Role::matmul || tensor.role == Role::conv)
        sums.multiplied += static_cast<double>(tensor.elements()) * name.share *
                           static_cast<double>(tensor.used) / static_cast<double>(tensor.of);
    }
  }
  for (auto& list : host.on_card_before) std::partial_sum(list.begin(), list.end(), list.begin());
  if (!host.on_card_before.empty() && !host.output &&
      std::ranges::all_of(kept, [](const Kept& k) { return k.bytes == 0; }))
    return host;  // nothing stays in host memory
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
  return real_count(between(s.weights->model->profile.mixtures_before, moved));
}

}  // namespace headroom::model
