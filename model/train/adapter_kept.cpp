#include "model/train/adapter_kept.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "model/checkpoint/adapter_groups.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

constexpr double bytes_together = 2;  ///< fused kernels keep their input in 16 bit

/// How the first factor reads a module's input: PEFT 0.21 converts it to the adapter's type, and
/// autocast that to 16 bit (tuners/lora/layer.py, Linear.forward). Layers of bitsandbytes leave the
/// first step out under autocast (tuners/lora/bnb.py). Without a conversion no copy exists, and
/// modules of one input keep it once.
struct InputCopy {
  double element = 0;  ///< bytes
  bool shared = false;
};
InputCopy copy_of(const TrainingScenario& s) {
  const TrainingRuntime& runtime = *s.runtime;
  const bool wide_input = s.recipe->parameters == Held::fp32;
  const bool narrow_adapter = runtime.adapter_bytes == 2 || runs_deepspeed(runtime);
  const bool autocast = s.recipe->autocast || !runtime.adapter_inputs_fp32;
  if (narrow_adapter) return {2, !wide_input};
  if (!autocast) return {4, wide_input};
  const bool converts_first = s.base == nullptr;
  return {2, !converts_first && !wide_input};
}

double kept_apart(const TrainingScenario& s, const InputCopy& copy, const AdaptedModule& m) {
  double sum = copy.element * static_cast<double>(m.in + m.rank);
  if (s.runtime->adapter_dropout) sum += static_cast<double>(m.in);  // its mask
  if (m.magnitudes > 0) sum += 2 * copy.element * static_cast<double>(m.out);
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
  const InputCopy copy = copy_of(s);
  const bool once = copy.shared && !s.runtime->adapter_dropout;
  double sum = 0;
  for (const auto& group : groups.together)
    if (counts(*group.front())) sum += bytes_together * static_cast<double>(group.front()->in);
  std::set<std::string> inputs;
  for (const AdaptedModule* m : groups.apart) {
    if (!counts(*m)) continue;
    sum += kept_apart(s, copy, *m);
    if (once && !inputs.insert(input_of(*m)).second)
      sum -= copy.element * static_cast<double>(m->in);
  }
  return sum;
}

}  // namespace headroom::model
