#include "model/train/rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "hardware/units.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

RankShare share_of(const TrainingScenario& s, const QuantisedModel& weights, Size stage) {
  const Parallelism& p = s.parallel;
  const Shards& shards = weights.shards;
  const Stage here = stage_of(s, stage);
  Rank rank{.cards = p.tensor,
            .expert_cards = p.experts,
            .expert_groups = p.experts,
            .vocabulary_multiple = s.runtime->vocabulary_multiple * p.tensor};
  const auto of = [&](Divided whole) {
    whole.experts = Bytes(0);
    return shards.of_rank(whole, rank).count();
  };
  RankShare share;
  const Divided layers = shards.layers(here.first, here.last);
  share.dense = of(layers);
  share.experts = divided_up(shards.experts_of_rank(layers.experts, rank).count(), p.tensor);
  const bool copied = p.stages > 1 && s.model->profile.tied_head && here.has_head;
  if (here.has_embedding || copied) share.embedding_and_head += of(shards.embedding);
  if (here.has_head) share.embedding_and_head += of(shards.head);
  share.dense += share.embedding_and_head;
  for (Size i = here.first; i < here.last; ++i) {
    const Divided one = shards.layers(i, i + 1);
    share.largest_layer =
        std::max(share.largest_layer,
                 of(one) + shards.experts_of_rank(one.experts, rank).count() / p.tensor);
  }
  return share;
}

constexpr Size bytes_held = 2;  ///< bytes of an element of `plain`

void must_divide(Reason reason, std::string_view what, Size number, std::string_view split,
                 Size by) {
  if (number % by == 0) return;
  Size divisor = std::min(by, number);
  while (number % divisor != 0) --divisor;
  throw ImpossibleStep(reason, fmt::format("{} {} does not divide {} {}; {} does", split, by,
                                           number, what, divisor));
}

}  // namespace

QuantisedModel counted(const Model& model) {
  Model trained = model;
  std::erase_if(trained.part.tensors, [](const Tensor& t) { return !t.is_parameter(); });
  trained.profile.repeats = repeats_of(trained.part, trained.profile);
  QuantisedModel weights = quantise_alone(TensorIndex(trained), scheme("bf16"));
  weights.model = &model;
  return weights;
}

Stage stage_of(const TrainingScenario& s, Size stage) {
  const Size stages = s.parallel.stages, towers = tower_layers(*s.model);
  const Size layers = static_cast<Size>(s.model->profile.layers.size()) - towers;
  const Size ends = layers % stages == 0 ? 0 : 2;  // embedding and head
  // The first stage has the towers.
  const auto first = [&](Size of) {
    return of == 0 ? 0
                   : towers + std::clamp<Size>((layers + ends) * of / stages - ends / 2, 0, layers);
  };
  return {first(stage), first(stage + 1), stage == 0, stage == stages - 1};
}

RankShare elements_of_rank(const TrainingScenario& s, Size stage) {
  RankShare share = share_of(s, *s.plain, stage);
  for (Size* each : {&share.dense, &share.experts, &share.largest_layer, &share.embedding_and_head})
    *each /= bytes_held;
  return share;
}

RankShare base_of_rank(const TrainingScenario& s, Size stage) {
  if (s.base != nullptr)
    return share_of(s, s.recipe->raises_rest && s.base->raised ? *s.base->raised : *s.base, stage);
  RankShare share = elements_of_rank(s, stage);
  for (Size* each : {&share.dense, &share.experts, &share.largest_layer, &share.embedding_and_head})
    *each *= s.recipe->weight;
  return share;
}

Size adapters_of_rank(const TrainingScenario& s, Size adapted) {
  const Size t = s.parallel.tensor;
  const Size divided = (adapted * (t + 1) + 2 * t - 1) / (2 * t);
  return divided_up(divided, s.parallel.stages);
}

Size distinct_matrices(const TrainingScenario& s, Size stage) {
  const Stage here = stage_of(s, stage);
  const Model& m = *s.model;
  const MatrixReader reader(m);
  const std::vector<Size>& block = m.profile.repeats.blocks();
  // Adjacent matrices of a module, by the matrix that fuses them.
  std::map<std::pair<std::string, std::string>, std::pair<Size, Size>> fused;  // → {in, out}
  for (std::size_t i = 0; i < m.part.tensors.size(); ++i) {
    const Tensor& t = m.part.tensors[i];
    if (block[i] < here.first || block[i] >= here.last || t.role != Role::matmul) continue;
    const auto matrix = reader.matrix(t);
    if (!matrix) continue;
    std::string kind = t.name, scope(t.module());
    switch (tensor_class(t.module())) {
      case TensorClass::attention_q:
      case TensorClass::attention_k:
      case TensorClass::attention_v:
        kind = "qkv";
        break;
      case TensorClass::feed_forward_gate:
      case TensorClass::feed_forward_up:
        kind = "gate and up";
        break;
      default:
        break;
    }
    if (kind != t.name) scope.resize(std::min(scope.size(), scope.rfind('.')));
    auto& shape = fused[{scope, kind}];
    shape = {matrix->in, shape.second + matrix->out};
  }
  std::set<std::pair<Size, Size>> shapes;
  Size sum = 0;
  for (const auto& [key, shape] : fused)
    if (shape.second > 1 && shapes.insert(shape).second) sum += shape.first * shape.second;
  return sum / s.parallel.tensor;
}

Size largest_parameter(const TrainingScenario& s) {
  const Model& m = *s.model;
  const Size experts = m.profile.routing.experts;
  Size largest = 0;
  for (const Tensor& t : m.part.tensors) {
    const Size together = t.of > 1 && t.shape.size() == 2 ? 2 * experts : 1;
    largest = std::max(largest, together * t.elements());
  }
  return largest / s.parallel.tensor;
}

void check_parallelism(const TrainingScenario& s) {
  using enum Reason;
  const Parallelism& p = s.parallel;
  const Model& m = *s.model;
  for (const auto& [split, n] : {std::pair{"data parallel", p.replicas},
                                 {"tensor parallel", p.tensor},
                                 {"pipeline stages", p.stages},
                                 {"virtual stages", p.chunks},
                                 {"expert parallel", p.experts},
                                 {"context parallel", p.context}})
    if (n < 1) throw std::invalid_argument(fmt::format("{}: found {}; at least 1", split, n));
  const Size layers = static_cast<Size>(m.profile.layers.size()) - tower_layers(m);
  const Size experts = m.profile.routing.experts;
  must_divide(heads_not_divisible, "attention heads", m.shape.query_heads, "tensor parallel",
              p.tensor);
  const Size kv = m.shape.kv_heads;
  if (kv > 0 && p.tensor % kv != 0)
    must_divide(heads_not_divisible, "key-value heads", kv, "tensor parallel", p.tensor);
  if (p.stages * p.chunks > layers + 2)
    throw ImpossibleStep(
        layers_not_divisible,
        fmt::format("{} pipeline stages x {} virtual stages: {} layers, embedding and head "
                    "make no more than {} pieces",
                    p.stages, p.chunks, layers, layers + 2));
  if (p.chunks > 1 && p.stages == 1)
    throw ImpossibleStep(layers_not_divisible,
                         "virtual stages have no effect without pipeline stages");
  if (layers % p.stages == 0)
    must_divide(layers_not_divisible, "layers of a stage", layers / p.stages, "virtual stages",
                p.chunks);
  if (p.experts > 1 && experts == 0)
    throw ImpossibleStep(no_experts, "expert parallel has no effect: the model has no experts");
  must_divide(experts_not_divisible, "experts", experts, "expert parallel", p.experts);
  must_divide(experts_not_divisible, "cards of data times context parallel", p.alike(),
              "expert parallel", p.experts);
  must_divide(tokens_not_divisible, "tokens of a sequence", s.sequence, "context parallel",
              p.context);
  if (p.sequence && p.tensor == 1)
    throw std::invalid_argument("sequence parallel has no effect without tensor parallel");
  if (p.stages > 1 && s.accumulated < p.stages && p.chunks > 1)
    throw ImpossibleStep(passes_do_not_fill,
                         fmt::format("virtual stages: {} accumulated passes do not fill {} stages",
                                     s.accumulated, p.stages));
}

Bytes zero_share(const TrainingScenario& s, Bytes dense, Bytes experts, int from) {
  const auto share = [](Bytes bytes, Size of) {
    return of <= 1 ? bytes : Bytes(divided_up(bytes.count(), of));
  };
  const bool out = s.zero >= from;
  const Size alike = out ? s.parallel.alike() : 1;
  return share(dense, alike) + share(experts, out ? alike / s.parallel.experts : 1);
}

}  // namespace headroom::model
