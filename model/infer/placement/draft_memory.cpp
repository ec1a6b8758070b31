#include "model/infer/placement/draft_memory.hpp"

#include <algorithm>

namespace headroom::model {

Bytes draft_bytes(const Scenario& s) {
  return s.draft == nullptr || s.draft->weights == nullptr ? Bytes(0) : s.draft->weights->total;
}

Scenario of_draft(const Scenario& s, Size shards) {
  Scenario d = s;
  d.weights = s.draft->weights;
  d.pool_partner = s.weights;
  d.draft = nullptr;
  d.layer_split = nullptr;
  d.assignment = nullptr;
  d.cpu_offload = Bytes(0);
  d.images = {};
  d.pipeline_parallel = d.data_parallel = 0;
  // The checkpoint's own modules have its experts, divided as those of its layers.
  if (s.draft->proposer != Proposer::modules) d.expert_parallel = 0;
  d.tensor_parallel = s.runtime->parallel.split == Split::tensors ? shards : 0;
  return d;
}

namespace {

Bytes cache_of(const Scenario& d, Size shards) {
  return CacheBytes(d, reserved_tokens(d), shards)(0, std::ssize(d.weights->layer));
}

}  // namespace

DraftUse draft_on_card(const Scenario& s, Size shards, bool first) {
  if (s.draft == nullptr || s.draft->weights == nullptr) return {};
  const Scenario d = of_draft(s, shards);
  const QuantisedModel& w = *d.weights;
  if (s.runtime->parallel.split == Split::tensors) {
    const Rank rank{.cards = shards,
                    .expert_cards = shards,
                    .expert_groups = std::max<Size>(1, d.expert_parallel),
                    .vocabulary_multiple = s.runtime->weights.vocabulary_multiple};
    const Divided all =
        w.shards.embedding + w.shards.layers(0, std::ssize(w.layer)) + w.shards.head;
    return {w.shards.of_rank(all, rank), cache_of(d, shards)};
  }
  if (!first) return {};
  return {w.total - (s.runtime->offload.input_on_cpu ? w.embedding : Bytes(0)), cache_of(d, 1)};
}

DraftUse draft_on_host(const Scenario& s, const Plan& plan) {
  if (s.draft == nullptr || s.draft->weights == nullptr) return {};
  const QuantisedModel& w = *s.draft->weights;
  if (plan.cards == 0) return {w.total, cache_of(of_draft(s, 1), 1)};
  return {s.runtime->offload.input_on_cpu ? w.embedding : Bytes(0), Bytes(0)};
}

}  // namespace headroom::model
