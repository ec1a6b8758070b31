// Single changes that put everything on cards, or offload it.
#include "model/answer/advice_changes.hpp"

#include <algorithm>
#include <limits>

#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {
namespace {

using AdviceKind = Advice::Kind;

}  // namespace

AfterChange after_change(const Estimate& e) {
  return {e.gpus_used, e.gpu_bytes, e.cpu_bytes, e.disk_bytes, e.tpot, all_on_gpus(e)};
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

/// The smallest of the usual shares that puts everything on the cards.
std::optional<Advice> larger_share(const Scenario& s) {
  if (!s.runtime->memory.sets_aside() || s.gpu_budget != unlimited) return {};
  Scenario changed = s;
  for (const Size percent : {75, 80, 85, 90, 95}) {
    changed.gpu_share = static_cast<double>(percent) / 100;
    if (changed.gpu_share <= s.gpu_share) continue;
    if (const Estimate e = evaluate(changed); all_on_gpus(e))
      return Advice{.kind = AdviceKind::larger_share, .then = after_change(e), .amount = percent};
  }
  return {};
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

/// The fewest cards of the kind there is, the last of several, that hold everything.
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
    const std::vector<Device>& before = s.machine->devices;
    Advice more{
        .kind = AdviceKind::more_cards, .then = after_change(e), .name = before.back().name};
    if (std::ranges::all_of(before, [&](const Device& card) { return card.name == more.name; })) {
      more.amount = e.gpus_used;
      more.instead_of = std::ssize(before);
    } else {
      more.amount = std::ssize(machine.devices) - std::ssize(before);
    }
    return more;
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
  if (!fits(e.verdict)) return {};
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
        largest(most, [&](Size gib) { return !fits(with(offloaded + gib).verdict); }) + 1;
    if (const Estimate e = with(offloaded + more); fits(e.verdict))
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
    if (engine.offload.mode == Offload::none || engine.name != engine.family ||
        !holds_as_stored(s, engine, *s.weights->scheme))
      continue;
    changed.runtime = &engine;
    const Estimate e = evaluate(changed);
    if (!fits(e.verdict) || e.tpot >= fastest) continue;
    fastest = e.tpot;
    best =
        Advice{.kind = AdviceKind::engine_offloads, .then = after_change(e), .engine = engine.name};
  }
  return best;
}

std::optional<Advice> on_cpu_alone(const Scenario& s, const Estimate& e) {
  if (e.gpus_used == 0 || !fits(e.verdict)) return {};
  Scenario changed = s;
  changed.gpu_budget = Bytes(0);
  changed.gpu_share = 0;
  const Scheme& loaded =
      loaded_scheme(*s.weights->model, s.weights->scheme, *s.runtime, computing_machine(changed));
  std::optional<QuantisedModel> unpacked;
  if (&loaded != s.weights->scheme)
    changed.weights = &unpacked.emplace(loaded_weights(*s.weights->model, loaded, *s.runtime));
  const Estimate alone = evaluate(changed);
  if (!fits(alone.verdict) || alone.total >= e.total || alone.tpot >= e.tpot) return {};
  return Advice{.kind = AdviceKind::no_cards,
                .then = after_change(alone),
                .name = unpacked ? loaded.name : std::string_view()};
}

}  // namespace headroom::model
