// The ways to divide a machine into equal copies of a model.
#include <algorithm>
#include <iterator>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {

Scenario on(Scenario s, const MachineShare& share) {
  s.machine = &share.machine;
  if (share.attention > 1) {
    s.expert_parallel = static_cast<Size>(share.machine.devices.size());
    s.data_parallel = share.attention;
    s.tensor_parallel = s.expert_parallel / s.data_parallel;
    return s;
  }
  if (s.runtime->parallel.split == Split::tensors && s.tensor_parallel == 0 && s.stages() == 1)
    s.tensor_parallel = static_cast<Size>(share.machine.devices.size());
  return s;
}

MachineShare share_of(const Machine& machine, Size cards, Size replicas) {
  MachineShare share{machine, replicas};
  share.machine.devices.resize(static_cast<std::size_t>(cards));
  const double part = 1 / static_cast<double>(replicas);
  Host& host = share.machine.host;
  host.ram = Bytes(host.ram.count() / replicas);
  host.ram_bandwidth = part * host.ram_bandwidth;
  host.cpu_peak = part * host.cpu_peak;
  host.cores = std::max(1, static_cast<int>(host.cores / replicas));
  if (host.cards > 0) host.boxes = static_cast<int>(boxes_of(host, cards).count);
  return share;
}

MachineShare share_of(const Machine& machine, const Serving& serving) {
  MachineShare share = share_of(machine, serving.cards_of_copy(), serving.copies());
  share.attention = serving.attention;
  return share;
}

bool may_replicate_attention(const Scenario& s) {
  const ParallelPolicy& policy = s.runtime->parallel;
  return policy.split == Split::tensors &&
         (policy.expert_spread == ExpertSpread::all || policy.attention_replicas) &&
         s.draft == nullptr && s.tensor_parallel == 0 && s.pipeline_parallel == 0 &&
         s.expert_parallel == 0 && s.data_parallel == 0 &&
         s.weights->model->profile.routing.experts > 0 && caches_latents(s);
}

std::vector<MachineShare> with_attention_replicas(const MachineShare& share) {
  std::vector<MachineShare> all;
  const auto cards = static_cast<Size>(share.machine.devices.size());
  const Host& host = share.machine.host;
  if (!share.machine.has_one_kind()) return all;
  for (Size replicas = 2; replicas <= cards; ++replicas)
    if (cards % replicas == 0 && (host.boxes < 2 || cards / replicas <= host.cards)) {
      all.push_back(share);
      all.back().attention = replicas;
    }
  return all;
}

std::vector<MachineShare> shares(const Machine& machine) {
  const auto cards = static_cast<Size>(machine.devices.size());
  std::vector<MachineShare> all{{machine, 1}};
  if (!machine.has_one_kind()) return all;
  for (Size replicas = 2; replicas <= cards; ++replicas)
    if (cards % replicas == 0) all.push_back(share_of(machine, cards / replicas, replicas));
  return all;
}

std::vector<MachineShare> shares(const Scenario& scenario, const Machine& machine,
                                 const Target& target) {
  std::vector<MachineShare> all = shares(machine);
  Scenario s = scenario;
  s.machine = &machine;
  if (!target.attention_replicas || !may_replicate_attention(s)) return all;
  std::vector<MachineShare> with;
  for (MachineShare& share : all) {
    with.push_back(share);
    std::ranges::move(with_attention_replicas(share), std::back_inserter(with));
  }
  return with;
}

}  // namespace headroom::model
