#include "model/answer/placement/parallel_splits.hpp"

#include <algorithm>

#include "model/answer/placement/strategy.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

std::vector<Size> sizes(Size given, Size cards) {
  if (given > 0) return {given};
  std::vector<Size> all;
  for (Size n = 1; n <= cards; ++n)
    if (cards % n == 0) all.push_back(n);
  return all;
}

ParallelSplit split_of(const Scenario& s) {
  ParallelSplit split{.tensor = s.tensor_parallel,
                      .pipeline = s.pipeline_parallel,
                      .expert = s.expert_parallel,
                      .estimate = evaluate(s),
                      .weights = {},
                      .room = {}};
  if (split.estimate.verdict == Verdict::refused) return split;
  const Scenario running = admitted_scenario(s);
  const Plan plan = place(running, 1.0);
  const Uses uses(running);
  for (Size card = 0; card < plan.cards; ++card)
    split.weights = std::max(split.weights, uses.weights(plan, card));
  if (split.estimate.verdict < Verdict::does_not_fit) split.room = cache_room(running, plan);
  return split;
}

}  // namespace

std::vector<ParallelSplit> parallel_splits(const Scenario& s) {
  std::vector<ParallelSplit> all;
  const Size cards = card_count(s), replicas = std::max<Size>(1, s.data_parallel);
  const bool experts = s.weights->model->profile.routing.experts > 0;
  for (const Size tensor : sizes(s.tensor_parallel, cards))
    for (const Size pipeline : sizes(s.pipeline_parallel, cards)) {
      if (tensor * pipeline * replicas > cards && s.tensor_parallel * s.pipeline_parallel == 0)
        continue;
      Scenario changed = s;
      changed.tensor_parallel = tensor;
      changed.pipeline_parallel = pipeline;
      if (s.expert_parallel == 0) all.push_back(split_of(changed));
      const Size sharing = s.runtime->parallel.expert_spread == ExpertSpread::all ? replicas : 1;
      if (s.expert_parallel == 0) changed.expert_parallel = tensor * sharing;
      const bool spreads = s.runtime->parallel.expert_spread != ExpertSpread::none;
      if (s.expert_parallel > 0 || (experts && spreads && tensor * sharing > 1))
        all.push_back(split_of(changed));
    }
  return all;
}

}  // namespace headroom::model
