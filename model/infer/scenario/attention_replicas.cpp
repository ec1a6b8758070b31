#include "model/infer/scenario/attention_replicas.hpp"

#include <algorithm>

namespace headroom::model {

Size asked_shards(const Scenario& s) {
  if (s.tensor_parallel > 0 || s.expert_parallel <= 1) return s.tensor_parallel;
  const ParallelPolicy& policy = s.runtime->parallel;
  const Size replicas = std::max<Size>(1, s.data_parallel);
  if (policy.expert_spread == ExpertSpread::all)
    return std::max<Size>(1, s.expert_parallel / replicas);
  const Size cards = std::ssize(s.machine->devices), copies = replicas * s.stages();
  if (!policy.attention_replicas || s.expert_parallel * copies <= cards) return s.expert_parallel;
  return std::max<Size>(1, cards / copies);
}

Size sharing_replicas(const Scenario& s) {
  if (s.data_parallel <= 1 || s.weights->shards.experts == 0) return 1;
  const ParallelPolicy& policy = s.runtime->parallel;
  const bool shared =
      policy.expert_spread == ExpertSpread::all ||
      (policy.attention_replicas && s.expert_parallel > std::max<Size>(1, asked_shards(s)));
  return shared ? s.data_parallel : 1;
}

}  // namespace headroom::model
