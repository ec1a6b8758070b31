// Single changes that put everything on cards, or offload it.
#include "model/answer/advice_changes.hpp"

#include <algorithm>
#include <limits>

#include "model/answer/narrow_formats.hpp"
#include "model/answer/way_order.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {
namespace {

using AdviceKind = Advice::Kind;

double bytes_each(const Scheme& scheme) { return precision(scheme.format).element_bytes(); }

bool fits_somewhere(const Estimate& e) { return e.verdict < Verdict::does_not_fit; }

/// The schemes that `engine` holds and that take no more bytes than the scenario's, the widest
/// first, so that few are worked out.
std::vector<const Scheme*> no_wider(const Scenario& s, const Engine& engine) {
  std::vector<const Scheme*> all;
  for (const Scheme& scheme : schemes())
    if (engine.weights.holds(scheme.family) && bytes_each(scheme) <= bytes_each(*s.weights->scheme))
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

AfterChange after_change(const Estimate& e) {
  return {e.gpus_used, e.gpu_bytes, e.cpu_bytes, e.disk_bytes, e.tpot, all_on_gpus(e)};
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
    if (!fits_somewhere(e) || e.tokens_s < 1) continue;
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
  if (!asked.weights->model->profile.generative || asked.draft != nullptr) return {};
  if (fits_somewhere(now) && now.tokens_s >= 1) return {};
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

/// The widest narrower cache that puts everything on the cards.
std::optional<Advice> narrower_cache(const Scenario& s) {
  if (!s.kv_cache) return {};
  Scenario changed = s;
  double widest = 0;
  std::optional<Advice> found;
  for (const CacheFormat& format : s.runtime->cache.formats) {
    const Precision& narrower = precision(format.precision);
    const double each = narrower.element_bytes();
    if (each >= cache_precision(s).element_bytes() || each <= widest) continue;
    changed.kv_precision = &narrower;
    const Estimate e = evaluate(changed);
    if (!all_on_gpus(e)) continue;
    widest = each;
    found = Advice{
        .kind = AdviceKind::narrower_cache, .then = after_change(e), .name = format.precision};
  }
  return found;
}

/// The longest context that puts everything on the cards and still holds prompt and output.
std::optional<Advice> shorter_context(const Scenario& s) {
  Scenario changed = s;
  const Size before_shortest = s.prompt_tokens + s.output_tokens - 1;
  const auto holds = [&](Size tokens) {
    changed.context = before_shortest + tokens;
    return all_on_gpus(evaluate(changed));
  };
  const Size most = largest(s.cached_tokens() - 1 - before_shortest, holds);
  if (most == 0) return {};
  holds(most);
  return Advice{.kind = AdviceKind::shorter_context,
                .then = after_change(evaluate(changed)),
                .amount = changed.context,
                .instead_of = s.cached_tokens()};
}
/// The largest batch that puts everything on the cards.
std::optional<Advice> smaller_batch(const Scenario& s) {
  Scenario changed = s;
  const auto holds = [&](Size times) {
    changed.batch = times * s.batch_parts;
    return all_on_gpus(evaluate(changed));
  };
  const Size most = largest(s.batch_part() - 1, holds);
  if (most == 0) return {};
  holds(most);
  return Advice{.kind = AdviceKind::smaller_batch,
                .then = after_change(evaluate(changed)),
                .amount = changed.batch,
                .instead_of = s.batch};
}

/// The fewest cards of the kind there is that hold everything.
std::optional<Advice> more_cards(const Scenario& s) {
  if (s.machine->devices.empty()) return {};
  Machine machine = *s.machine;
  Scenario changed = s;
  changed.machine = &machine;
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  // The engine's own context may grow with the cards: what was asked stays the same.
  if (s.default_context() > 0) changed.context = s.cached_tokens();
  const Host& host = machine.host;
  const auto most = static_cast<std::size_t>(host.cards > 0 ? host.cards * host.boxes : 64);
  while (machine.devices.size() < most) {
    machine.devices.push_back(machine.devices.back());
    const Estimate e = evaluate(changed);
    if (!all_on_gpus(e)) continue;
    // An explicit option was the obstacle, not the number of cards.
    if (e.gpus_used <= s.machine->devices.size())
      return Advice{.kind = AdviceKind::engines_own_split,
                    .then = after_change(e),
                    .engine = s.runtime->name};
    return Advice{.kind = AdviceKind::more_cards,
                  .then = after_change(e),
                  .name = s.machine->devices.back().name,
                  .amount = e.gpus_used,
                  .instead_of = static_cast<Size>(s.machine->devices.size())};
  }
  return {};
}

/// Caches in host memory, for an engine that streams weights and has such an option.
std::optional<Advice> caches_off_cards(const Scenario& s) {
  const bool may = s.runtime->offload.mode == Offload::stream &&
                   s.runtime->offload.host_weights == HostWeights::copied &&
                   s.layer_split == nullptr && !s.machine->devices.empty();
  if (!may) return {};
  LayerSplit split;
  split.cache_on_cards = false;
  Scenario changed = s;
  changed.layer_split = &split;
  const Estimate e = evaluate(changed);
  if (!fits_somewhere(e)) return {};
  return Advice{.kind = AdviceKind::caches_on_host, .then = after_change(e)};
}

/// The smallest part of each card's weights that must stay in host memory, if the engine has such
/// an option. Otherwise the fastest other engine that offloads.
std::optional<Advice> offload_elsewhere(const Scenario& s) {
  if (s.machine->devices.empty()) return {};
  Scenario changed = s;
  if (s.runtime->offload.supports_cpu_offload) {
    const auto with = [&](Size gib) {
      changed.cpu_offload = Bytes(gib << 30);
      return evaluate(changed);
    };
    const Size offloaded = s.cpu_offload.count() >> 30;
    const Size most = (s.weights->total.count() >> 30) + 1;
    const Size more =
        largest(most, [&](Size gib) { return !fits_somewhere(with(offloaded + gib)); }) + 1;
    if (const Estimate e = with(offloaded + more); fits_somewhere(e))
      return Advice{
          .kind = AdviceKind::weights_on_host, .then = after_change(e), .amount = offloaded + more};
    changed = s;
  } else if (s.runtime->offload.mode != Offload::none) {
    return {};
  }
  if (s.draft != nullptr) return {};
  std::optional<Advice> best;
  Seconds fastest{std::numeric_limits<double>::infinity()};
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  changed.expert_parallel = changed.data_parallel = 0;
  changed.cpu_offload = Bytes(0);
  for (const Engine& engine : engines()) {
    if (engine.offload.mode == Offload::none || engine.name != engine.family) continue;
    changed.runtime = &engine;
    const Estimate e = evaluate(changed);
    if (!fits_somewhere(e) || e.tpot >= fastest) continue;
    fastest = e.tpot;
    best =
        Advice{.kind = AdviceKind::engine_offloads, .then = after_change(e), .engine = engine.name};
  }
  return best;
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
