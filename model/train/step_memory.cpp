#include "model/train/step_memory.hpp"

#include <algorithm>

#include "model/train/rank.hpp"

namespace headroom::model {
namespace {

constexpr Size fp32_bytes = 4;

/// Bytes that the optimizer duplicates of each element it updates. Source: torch 2.15
/// optim/adamw.py _multi_tensor_adamw, _foreach_sqrt of all second moments at once.
Size copied_bytes(const TrainingScenario& s, Size stepped_bytes) {
  const bool all_at_once = s.optimizer->foreach || !s.runtime->fused_step;
  return all_at_once ? s.optimizer->step_copies * stepped_bytes : 0;
}

/// Copies in fp32 of the largest parameter. Sharded weights are flat, adapters small.
Bytes one_tensor(const TrainingScenario& s, Size stepped_bytes) {
  if (s.optimizer->step_tensors == 0 || s.zero > 0 || s.adapter != nullptr) return Bytes(0);
  const Size copies = s.optimizer->step_tensors - (stepped_bytes == fp32_bytes ? 2 : 0);
  return copies * fp32_bytes * Bytes(largest_parameter(s));
}

/// DeepSpeed's step. The gradients of a group are joined to one tensor, which is converted to
/// fp32 (F). The joined tensor (J) is freed before the optimizer makes its copies (C).
///
///   stages 1 and 2: the group is the partition, and its gradients (P) are freed after the
///     conversion: max(P + J + F, F + C)
///   stage 3: groups of `subgroup_elements`; the gradients are views of one buffer, which stays:
///     F + max(J, C) besides them
///
/// Source: DeepSpeed runtime/zero/stage_1_and_2.py step; stage3.py
/// _prepare_fp32_grad_for_sub_group, _create_fp16_sub_groups.
StepMemory by_deepspeed(const TrainingScenario& s, const StepOperands& on) {
  const bool grouped = s.zero >= 3 && s.runtime->subgroup_elements > 0;
  const Size elements =
      grouped ? std::min(on.partition, s.runtime->subgroup_elements) : on.partition;
  const Bytes converted = s.runtime->step_gradient_bytes * Bytes(elements);
  const Bytes joined =
      on.gradient_bytes < fp32_bytes ? on.gradient_bytes * Bytes(elements) : Bytes(0);
  const Bytes copies = copied_bytes(s, on.stepped_bytes) * Bytes(elements);
  if (s.zero >= 3) return {converted + std::max(joined, copies), false};
  const Bytes of_pass = on.gradient_bytes * Bytes(on.partition);
  return {std::max(of_pass + joined + converted, converted + copies), true};
}

}  // namespace

StepMemory step_memory(const TrainingScenario& s, const StepOperands& on) {
  if (s.zero > 0 && s.runtime->step_gradient_bytes > 0) return by_deepspeed(s, on);
  return {copied_bytes(s, on.stepped_bytes) * Bytes(on.partition) + one_tensor(s, on.stepped_bytes),
          false};
}

}  // namespace headroom::model
