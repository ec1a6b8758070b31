#include "model/answer/placement/layers_by_context.hpp"

#include <set>

#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

constexpr Size shortest = 2048, longest_where_unlimited = 131072;

std::set<Size> contexts_of(const Scenario& s) {
  const Size least = s.prompt_tokens + s.output_tokens,
             positions = s.weights->model->shape.positions;
  const Size most = positions > 0 ? positions : longest_where_unlimited;
  std::set<Size> all{s.cached_tokens()};
  for (Size context = shortest; context <= most; context *= 2)
    if (context >= least) all.insert(context);
  if (most >= least) all.insert(most);
  return all;
}

/// The fewest layers whose experts have to be off the cards.
void add_cpu_moe(const Scenario& s, const LayerSplit& given, LayersAtContext& row) {
  const Size layers = counted_layers(*s.weights->model).size();
  Scenario changed = s;
  const auto with = [&](Size first_layers) {
    LayerSplit split = given;
    split.gpu_layers = layers + 1;
    if (first_layers > 0) split.on_host = experts_on_host(*s.weights, first_layers);
    changed.layer_split = &split;
    return evaluate(changed);
  };
  Size low = 0, high = layers;
  if (!fits(with(high))) return;
  while (low < high) {
    const Size middle = (low + high) / 2;
    if (fits(with(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  row.cpu_moe = low;
  row.with_cpu_moe = with(low);
}

}  // namespace

std::vector<LayersAtContext> layers_by_context(const Scenario& asked) {
  Scenario s = asked;
  if (s.gpu_budget == unlimited && !s.machine->devices.empty())
    s.gpu_budget = largest_card_budget(asked);
  LayerSplit split = s.layer_split != nullptr ? *s.layer_split : LayerSplit{};
  split.gpu_layers = -1;
  const bool experts =
      s.weights->model->profile.routing.experts > 0 && split.on_host.bytes_before.empty();
  std::vector<LayersAtContext> rows;
  for (const Size context : contexts_of(s)) {
    Scenario changed = s;
    changed.context = context;
    changed.layer_split = &split;  // whole layers, not the engine's own fit
    LayersAtContext row{.context = context, .estimate = evaluate(changed), .with_cpu_moe = {}};
    if (fits(row.estimate)) {
      const Plan plan = place(changed, 1.0);
      row.gpu_layers =
          counted_layers(*s.weights->model, plan.on_cards) + (plan.head == Where::card ? 1 : 0);
    }
    if (experts && split.mode != SplitMode::row) add_cpu_moe(changed, split, row);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace headroom::model
