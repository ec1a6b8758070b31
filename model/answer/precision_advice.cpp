// Single changes of the precision of weights.
#include <algorithm>
#include <limits>

#include "model/answer/advice_changes.hpp"
#include "model/answer/narrow_formats.hpp"
#include "model/answer/way_order.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

using AdviceKind = Advice::Kind;

double bytes_each(const Scheme& scheme) { return precision(scheme.format).element_bytes(); }

/// The schemes that `engine` holds as they are and that take no more bytes than the scenario's, the
/// widest first, so that few are worked out.
std::vector<const Scheme*> no_wider(const Scenario& s, const Engine& engine) {
  std::vector<const Scheme*> all;
  for (const Scheme& scheme : schemes())
    if (bytes_each(scheme) <= bytes_each(*s.weights->scheme) && holds_as_stored(s, engine, scheme))
      all.push_back(&scheme);
  std::stable_sort(all.begin(), all.end(), [](const Scheme* a, const Scheme* b) {
    return bytes_each(*a) > bytes_each(*b);
  });
  return all;
}

/// Bytes that have to be on cards for an answer to come from cards alone: embeddings may be looked
/// up in host memory.
Bytes least_on_cards(const TensorIndex& index, const Scheme& scheme) {
  Bytes all;
  const std::vector<QuantisedTensor> tensors = quantised_tensors(index, scheme);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (index.model.part.tensors[i].role != Role::embedding) all += tensors[i].bytes;
  return all;
}

}  // namespace

bool holds_as_stored(const Scenario& s, const Engine& engine, const Scheme& scheme) {
  return engine.weights.holds(scheme.family) &&
         &loaded_scheme(*s.weights->model, &scheme, engine, *s.machine) == &scheme;
}

/// The widest scheme that the runtime holds and that puts everything on the cards, with a whole
/// answer in less time than `now`.
std::optional<Advice> fewer_bits(const Scenario& s, Seconds now) {
  const TensorIndex index(*s.weights->model);
  Bytes memory;
  for (const Device& device : s.machine->devices) memory += usable_memory(device);
  for (const Scheme* scheme : no_wider(s, *s.runtime)) {
    if (!refusal(index, *scheme).empty() || least_on_cards(index, *scheme) > memory) continue;
    const QuantisedModel narrower = quantise(index, *scheme);
    if (!narrower.refusal.empty() || narrower.total >= s.weights->total) continue;
    Scenario changed = s;
    changed.weights = &narrower;
    const Estimate e = evaluate(changed);
    if (all_on_gpus(e) && e.total < now)
      return Advice{.kind = AdviceKind::fewer_bits,
                    .then = after_change(e),
                    .name = scheme->name,
                    .before = s.weights->total,
                    .after = narrower.total};
  }
  return {};
}

namespace {

/// usable_bits() under one engine. Those below 4 bits go by narrow_handicap().
std::optional<Advice> usable_under(const TensorIndex& index, Scenario s) {
  const QuantisedModel* asked = s.weights;
  std::optional<Advice> found;
  double least = 0;
  for (const Scheme* scheme : no_wider(s, *s.runtime)) {
    if (!refusal(index, *scheme).empty()) continue;
    const bool is_narrow = is_below_four_bits(*scheme);
    if (is_narrow && std::ranges::find(narrow_formats, scheme->name) == narrow_formats.end())
      continue;
    const QuantisedModel narrower = quantise(index, *scheme);
    if (!narrower.refusal.empty() || narrower.total > asked->total) continue;
    s.weights = &narrower;
    const Estimate e = evaluate(s);
    if (!fits(e) || is_too_slow(e)) continue;
    const double handicap = is_narrow ? narrow_handicap(8 * bytes_each(*scheme)) : 1;
    const double weighed = e.tpot.value() * handicap;
    if (found && weighed >= least) continue;
    least = weighed;
    found = Advice{.kind = AdviceKind::usable_bits,
                   .then = after_change(e),
                   .name = scheme->name,
                   .amount = is_narrow ? 1 : 0,
                   .before = asked->total,
                   .after = narrower.total};
    if (!is_narrow) break;
  }
  return found;
}

}  // namespace

/// If less than a token a second is decoded: the widest scheme of 4 bits or more that decodes one,
/// else the best below. It is one of the runtime, or else of another compared engine that offloads.
std::optional<Advice> usable_bits(const Scenario& asked, const Estimate& now) {
  if (!asked.weights->model->writes() || asked.draft != nullptr) return {};
  if (fits(now) && !is_too_slow(now)) return {};
  const TensorIndex index(*asked.weights->model);
  if (auto own = usable_under(index, asked)) return own;
  Scenario s = asked;
  s.layer_split = nullptr;
  s.cpu_offload = Bytes(0);
  s.tensor_parallel = s.pipeline_parallel = s.expert_parallel = s.data_parallel = 0;
  for (const Engine& engine : engines()) {
    if (!engine.is_compared || engine.offload.mode == Offload::none || &engine == asked.runtime)
      continue;
    s.runtime = &engine;
    auto found = usable_under(index, s);
    if (found) found->engine = engine.name;
    if (found) return found;
  }
  return {};
}

/// The fastest engine that runs on the host alone, each with the widest scheme that host memory
/// holds and no wider than the scenario's. Weights packed for kernels of cards are left out.
std::optional<Advice> without_cards(const Scenario& s) {
  const TensorIndex index(*s.weights->model);
  Scenario changed = s;
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  changed.expert_parallel = changed.data_parallel = 0;
  changed.cpu_offload = Bytes(0);
  std::optional<Advice> best;
  Seconds fastest{std::numeric_limits<double>::infinity()};
  for (const Engine& engine : engines()) {
    if (!engine.offload.cpu || engine.name != engine.family) continue;
    changed.runtime = &engine;
    for (const Scheme* scheme : no_wider(s, engine)) {
      if (scheme->family != SchemeFamily::plain && !is_gguf(scheme->family)) continue;
      const QuantisedModel quantised = quantise(index, *scheme);
      if (!quantised.refusal.empty()) continue;
      changed.weights = &quantised;
      const Estimate e = evaluate(changed);
      if (e.verdict >= Verdict::does_not_fit || e.disk_bytes > Bytes(0)) continue;
      if (e.tpot < fastest) {
        fastest = e.tpot;
        best = Advice{.kind = AdviceKind::engine_on_cpu,
                      .then = after_change(e),
                      .engine = engine.name,
                      .name = scheme->name};
      }
      break;
    }
  }
  return best;
}

}  // namespace headroom::model
