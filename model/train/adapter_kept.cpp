#include "model/train/adapter_kept.hpp"

#include <algorithm>

#include "model/checkpoint/adapter_groups.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

constexpr double bytes_together = 2;  ///< fused kernels keep their input in 16 bit

double kept_apart(const TrainingScenario& s, const AdaptedModule& m) {
  const double element = s.runtime->adapter_inputs_fp32 && !s.recipe->autocast ? 4 : 2;
  double sum = element * static_cast<double>(m.in + m.rank);
  if (s.runtime->adapter_dropout) sum += static_cast<double>(m.in);  // its mask
  if (m.magnitudes > 0) sum += 2 * element * static_cast<double>(m.out);
  return sum;
}

AdapterGroups groups_of(const TrainingScenario& s) {
  const auto types = s.runtime->fused_adapters;
  if (std::ranges::find(types, s.model->model_type) != types.end())
    return adapter_groups(*s.model, *s.adapter);
  AdapterGroups groups;
  for (const AdaptedModule& m : s.adapter->modules) groups.apart.push_back(&m);
  return groups;
}

}  // namespace

double adapter_kept(const TrainingScenario& s, bool in_tower) {
  if (s.adapter == nullptr) return 0;
  const auto tower = vision_tower(*s.model);
  const auto counts = [&](const AdaptedModule& m) {
    return (tower && tower->contains(m.path)) == in_tower;
  };
  const AdapterGroups groups = groups_of(s);
  double sum = 0;
  for (const auto& group : groups.together)
    if (counts(*group.front())) sum += bytes_together * static_cast<double>(group.front()->in);
  for (const AdaptedModule* m : groups.apart)
    if (counts(*m)) sum += kept_apart(s, *m);
  return sum;
}

}  // namespace headroom::model
