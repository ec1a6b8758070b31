#include "model/answer/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "model/answer/placement/strategy.hpp"
#include "model/answer/split_advice.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/serving.hpp"

namespace headroom::model {
namespace {

double gigabytes(Bytes bytes) { return static_cast<double>(bytes.count()) / 1e9; }

/// With no sequence of the batch that waits.
bool all_on_gpus(const Estimate& e) { return is_on_gpus(e) && e.queued == 0; }

/// Where it fits then, what the fullest card holds, and what a token takes.
std::string where(const Estimate& e) {
  std::string text =
      e.gpus_used == 1 ? std::string("fits on 1 GPU") : fmt::format("fits on {} GPUs", e.gpus_used);
  text += fmt::format(" with {:.1f} GB", gigabytes(e.gpu_bytes));
  if (e.tpot.value() > 0) text += fmt::format(", {:.1f} ms a token", 1e3 * e.tpot.value());
  return text;
}

double bytes_each(const Scheme& scheme) { return precision(scheme.format).element_bytes(); }

/// The schemes that `engine` holds and that take no more bytes than the scenario's, the widest
/// first, so that few are worked out.
std::vector<const Scheme*> no_wider(const Scenario& s, const Engine& engine) {
  std::vector<const Scheme*> all;
  for (const Scheme& scheme : schemes())
    if (std::find(engine.holds.begin(), engine.holds.end(), scheme.family) != engine.holds.end() &&
        bytes_each(scheme) <= bytes_each(*s.weights->scheme))
      all.push_back(&scheme);
  std::stable_sort(all.begin(), all.end(), [](const Scheme* a, const Scheme* b) {
    return bytes_each(*a) > bytes_each(*b);
  });
  return all;
}

/// The widest scheme that the runtime holds and that puts everything on the cards, with a whole
/// answer in less time than `now`.
std::string fewer_bits(const Scenario& s, Seconds now) {
  for (const Scheme* scheme : no_wider(s, *s.runtime)) {
    const QuantisedModel narrower = quantise(*s.weights->model, *scheme);
    if (!narrower.refusal.empty() || narrower.total >= s.weights->total) continue;
    Scenario changed = s;
    changed.weights = &narrower;
    const Estimate e = evaluate(changed);
    if (all_on_gpus(e) && e.total < now)
      return fmt::format("{}: {:.1f} -> {:.1f} GB, {}", scheme->name, gigabytes(s.weights->total),
                         gigabytes(narrower.total), where(e));
  }
  return {};
}

/// The widest narrower cache that puts everything on the cards.
std::string narrower_cache(const Scenario& s) {
  if (!s.kv_cache) return {};
  Scenario changed = s;
  double widest = 0;
  std::string text;
  for (const CacheFormat& format : s.runtime->caches) {
    const Precision& narrower = precision(format.precision);
    const double each = narrower.element_bytes();
    if (each >= s.kv_precision->element_bytes() || each <= widest) continue;
    changed.kv_precision = &narrower;
    const Estimate e = evaluate(changed);
    if (!all_on_gpus(e)) continue;
    widest = each;
    text = fmt::format("KV cache in {}: {}", format.precision, where(e));
  }
  return text;
}

/// The longest context and the largest batch that put everything on the cards.
std::string shorter_context(const Scenario& s) {
  Scenario changed = s;
  const auto holds = [&](Size tokens) {
    changed.context = tokens;
    changed.prompt_tokens = std::min(s.prompt_tokens, tokens);
    return all_on_gpus(evaluate(changed));
  };
  const Size longest = largest(s.cached_tokens() - 1, holds);
  if (longest == 0) return {};
  holds(longest);
  return fmt::format("a context of {} tokens instead of {}: {}", longest, s.cached_tokens(),
                     where(evaluate(changed)));
}
std::string smaller_batch(const Scenario& s) {
  Scenario changed = s;
  const auto holds = [&](Size times) {
    changed.batch = times * s.batch_parts;
    return all_on_gpus(evaluate(changed));
  };
  const Size most = largest(s.batch_part() - 1, holds);
  if (most == 0) return {};
  holds(most);
  return fmt::format("batch {} instead of {}: {}", changed.batch, s.batch,
                     where(evaluate(changed)));
}

/// The fewest cards of the kind there is that hold everything.
std::string more_cards(const Scenario& s) {
  if (s.machine->devices.empty()) return {};
  Machine machine = *s.machine;
  Scenario changed = s;
  changed.machine = &machine;
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  const Host& host = machine.host;
  const auto most = static_cast<std::size_t>(host.cards > 0 ? host.cards * host.boxes : 64);
  while (machine.devices.size() < most) {
    machine.devices.push_back(machine.devices.back());
    const Estimate e = evaluate(changed);
    if (!all_on_gpus(e)) continue;
    // What was asked for by hand stood in the way, not the number of cards.
    if (e.gpus_used <= s.machine->devices.size())
      return fmt::format("these GPUs without --tp and --pp, as {} splits: {}", s.runtime->name,
                         where(e));
    return fmt::format("{} GPUs of {} instead of {}: {}", e.gpus_used, machine.devices.back().name,
                       s.machine->devices.size(), where(e));
  }
  return {};
}

/// What host memory holds then, and what a token takes.
std::string beside(const Estimate& e) {
  return fmt::format(
      "{:.1f} GB on the fullest card and {:.1f} GB in host memory{}, {:.1f} ms a token",
      gigabytes(e.gpu_bytes), gigabytes(e.cpu_bytes),
      e.disk_bytes > Bytes(0) ? fmt::format(" and {:.1f} GB on disk", gigabytes(e.disk_bytes))
                              : std::string(),
      1e3 * e.tpot.value());
}

/// Caches in host memory, where an engine that streams weights is told so.
std::string caches_off_cards(const Scenario& s) {
  const bool may = s.runtime->offload == Offload::stream &&
                   s.runtime->host_weights == HostWeights::copied && s.layer_split == nullptr &&
                   !s.machine->devices.empty();
  if (!may) return {};
  LayerSplit split;
  split.cache_on_cards = false;
  Scenario changed = s;
  changed.layer_split = &split;
  const Estimate e = evaluate(changed);
  return e.verdict < Verdict::does_not_fit ? "--no-kv-offload: " + beside(e) : std::string();
}

/// The least of each card's weights that has to stay in host memory, where the engine holds it
/// back when told to; else the fastest other engine that offloads.
std::string offload(const Scenario& s) {
  const auto fits = [](const Estimate& e) { return e.verdict < Verdict::does_not_fit; };
  if (s.machine->devices.empty()) return {};
  Scenario changed = s;
  if (s.runtime->holds_back) {
    const auto with = [&](Size gib) {
      changed.cpu_offload = Bytes(gib << 30);
      return evaluate(changed);
    };
    const Size held = s.cpu_offload.count() >> 30;
    const Size most = (s.weights->total.count() >> 30) + 1;
    const Size more = largest(most, [&](Size gib) { return !fits(with(held + gib)); }) + 1;
    if (const Estimate e = with(held + more); fits(e))
      return fmt::format("--cpu-offload-gb {}: {}", held + more, beside(e));
    changed = s;
  } else if (s.runtime->offload != Offload::none) {
    return {};
  }
  if (s.draft != nullptr) return {};
  std::string best;
  Seconds fastest{std::numeric_limits<double>::infinity()};
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  changed.expert_parallel = changed.data_parallel = 0;
  changed.cpu_offload = Bytes(0);
  for (const Engine& engine : engines()) {
    if (engine.offload == Offload::none || engine.name != engine.family) continue;
    changed.runtime = &engine;
    const Estimate e = evaluate(changed);
    if (!fits(e) || e.tpot >= fastest) continue;
    fastest = e.tpot;
    best = fmt::format("{} offloads: {}", engine.name, beside(e));
  }
  return best;
}

/// Names of the engines that have kernels for the machine's cards and the model's class, the latest
/// version of each.
std::vector<std::string_view> engines_for(const Scenario& s) {
  std::vector<std::string_view> names;
  for (const Engine& each : engines())
    if (each.name == each.family && runs_on(each, *s.machine) && has_class(each, *s.weights->model))
      names.push_back(each.name);
  return names;
}

/// The fastest engine that runs on the host alone, each with the widest scheme that host memory
/// holds and no wider than the scenario's. Weights packed for kernels of cards are left out.
std::string without_cards(const Scenario& s) {
  Scenario changed = s;
  changed.tensor_parallel = changed.pipeline_parallel = 0;
  changed.expert_parallel = changed.data_parallel = 0;
  changed.cpu_offload = Bytes(0);
  std::string best;
  Seconds fastest{std::numeric_limits<double>::infinity()};
  for (const Engine& engine : engines()) {
    if (!engine.cpu || engine.name != engine.family) continue;
    changed.runtime = &engine;
    for (const Scheme* scheme : no_wider(s, engine)) {
      if (scheme->family != SchemeFamily::plain && scheme->family != SchemeFamily::gguf) continue;
      const QuantisedModel held = quantise(*s.weights->model, *scheme);
      if (!held.refusal.empty()) continue;
      changed.weights = &held;
      const Estimate e = evaluate(changed);
      if (e.verdict >= Verdict::does_not_fit || e.disk_bytes > Bytes(0)) continue;
      if (e.tpot < fastest) {
        fastest = e.tpot;
        best =
            fmt::format("{} runs on a CPU, {} weights: {:.1f} GB in host memory, {:.1f} ms a token",
                        engine.name, scheme->name, gigabytes(e.cpu_bytes), 1e3 * e.tpot.value());
      }
      break;
    }
  }
  return best;
}

/// The formats of keys and values that the runtime has, and the runtimes that have the one asked
/// for.
std::string cache_formats(const Scenario& s) {
  std::vector<std::string_view> formats, names;
  for (const CacheFormat& each : s.runtime->caches) formats.push_back(each.precision);
  for (const Engine& each : engines())
    if (each.name == each.family && each.cache_format(*s.kv_precision) != nullptr)
      names.push_back(each.name);
  std::string text =
      fmt::format("{} has no KV cache in {}: it has {} ({})", s.runtime->name, s.kv_precision->name,
                  fmt::join(formats, ", "), s.runtime->caches_source);
  if (!names.empty())
    text += fmt::format("; {} is one of {}", s.kv_precision->name, fmt::join(names, ", "));
  return text;
}

/// How many of the last layers would fit, where the options ask for another number of them.
std::string other_layers(const Scenario& s, const Estimate& e) {
  if (s.layer_split == nullptr || s.layer_split->gpu_layers < 0) return {};
  LayerSplit most = *s.layer_split;
  most.gpu_layers = -1;
  Scenario changed = s;
  changed.layer_split = &most;
  const Plan plan = place(changed, 1.0);
  const Size fits = plan.on_cards.size() + (plan.head == Where::card ? 1 : 0);
  const bool short_of = e.verdict == Verdict::does_not_fit && e.reason == Reason::gpu_memory;
  if (!plan.feasible() || (!short_of && fits <= s.layer_split->gpu_layers)) return {};
  return fmt::format("--gpu-layers {}: the most that fit", fits);
}

/// A scenario without the options that keep weights in host memory.
class Freed {
 public:
  explicit Freed(const Scenario& s) : scenario_(s) {
    if (s.cpu_offload > Bytes(0)) {
      scenario_.cpu_offload = Bytes(0);
      words_ = "without --cpu-offload-gb";
    }
    if (s.layer_split != nullptr && s.layer_split->on_host.matched > 0) {
      split_ = *s.layer_split;
      split_.on_host = {};
      split_.gpu_layers = -1;
      scenario_.layer_split = &split_;
      words_ = "without options that keep tensors in host memory";
    }
  }
  Freed(const Freed&) = delete;  // the scenario points into it
  Freed& operator=(const Freed&) = delete;

  const Scenario& scenario() const { return scenario_; }
  /// `change`, and with it these options left out.
  std::string with(std::string change) const {
    return words_.empty() || change.empty() ? change : fmt::format("{}: {}", words_, change);
  }
  /// Whether leaving them out alone puts everything on the cards.
  bool enough() const { return !words_.empty() && all_on_gpus(evaluate(scenario_)); }
  /// Leaving them out alone; empty: there are none, or that is no quicker than `now`, some weights
  /// staying in host memory all the same.
  std::string alone(Seconds now) const {
    if (words_.empty()) return {};
    const Estimate e = evaluate(scenario_);
    if (e.verdict >= Verdict::does_not_fit || (e.total >= now && !all_on_gpus(e))) return {};
    return with(all_on_gpus(e) ? where(e) : beside(e));
  }

 private:
  Scenario scenario_;
  LayerSplit split_;
  std::string_view words_;
};

}  // namespace

std::string advice(const Scenario& s, const Estimate& e) {
  if (all_on_gpus(e) || s.assignment != nullptr) return {};
  switch (e.reason) {
    case Reason::precision_unsupported:
      return fmt::format("{} does not hold {} weights{}: choose another runtime or precision",
                         s.runtime->name, s.weights->scheme->name,
                         s.weights->refusal.empty() ? "" : " (" + s.weights->refusal + ")");
    case Reason::cache_unsupported:
      return cache_formats(s);
    case Reason::context_too_long:
      return fmt::format("a context of at most {} tokens", s.weights->model->shape.positions);
    case Reason::cache_required:
      return "keep the KV cache, or use transformers";
    case Reason::cards_unsupported:
      return fmt::format("an engine that runs on these cards: {}", fmt::join(engines_for(s), ", "));
    case Reason::model_unsupported:
      return fmt::format("an engine that runs {}: {}", s.weights->model->architecture,
                         fmt::join(engines_for(s), ", "));
    case Reason::no_gpu:
      if (std::string engine = without_cards(s); !engine.empty()) return engine;
      return fmt::format(
          "{} needs a GPU, and no engine holds the model in this host's memory: a "
          "machine with a card, or a smaller model",
          s.runtime->name);
    default:
      break;
  }
  if (is_of_split(e.reason)) {
    const auto splits = other_splits(s);
    if (!splits.empty()) return fmt::format("{}", fmt::join(splits, "; or "));
  }
  std::vector<std::string> changes;
  if (std::string layers = other_layers(s, e); !layers.empty()) {
    changes.push_back(std::move(layers));
    if (e.verdict < Verdict::does_not_fit) return changes.front();
  }
  constexpr Seconds never{std::numeric_limits<double>::infinity()};
  const Seconds now = e.verdict < Verdict::does_not_fit ? e.total : never;
  const Freed freed(s);
  const auto add = [&](std::string text) {
    if (!text.empty()) changes.push_back(std::move(text));
  };
  if (freed.enough()) return freed.alone(now);
  add(freed.alone(now));
  add(freed.with(fewer_bits(freed.scenario(), now)));
  if (!s.machine->devices.empty()) {
    for (std::string (*change)(const Scenario&) : {narrower_cache, shorter_context, smaller_batch})
      add(freed.with(change(freed.scenario())));
  }
  add(freed.with(more_cards(freed.scenario())));
  if (e.verdict == Verdict::does_not_fit) {
    add(caches_off_cards(s));
    add(offload(s));
  }
  if (e.verdict == Verdict::does_not_fit && e.reason == Reason::ram)
    changes.push_back(fmt::format("{:.1f} GB more host memory", gigabytes(e.short_bytes)));
  if (e.verdict == Verdict::does_not_fit && e.reason == Reason::disk)
    changes.push_back(fmt::format("{:.1f} GB more disk", gigabytes(e.short_bytes)));
  if (changes.empty()) return "no change of precision or card count helps: a smaller model";
  return fmt::format("{}", fmt::join(changes, "; or "));
}

Bytes least_card(const Scenario& asked) {
  if (asked.machine->devices.empty() || asked.assignment != nullptr) return Bytes(0);
  Machine machine = *asked.machine;
  machine.devices.resize(1);
  machine.devices[0].memory = Bytes(Size{1} << 50);
  Scenario s = asked;
  s.machine = &machine;
  s.gpu_budget = all_of_it;
  s.layer_split = nullptr;
  s.tensor_parallel = s.pipeline_parallel = s.expert_parallel = s.data_parallel = 0;
  const Plan plan = place(s, 1.0);
  if (!plan.feasible() || plan.cards != 1) return Bytes(0);
  // What an engine sets aside at start goes by the size of the card that there is.
  machine.devices[0].memory = asked.machine->devices[0].memory;
  const double total = card_use(s, plan, 0).total().real().value();
  return Bytes(static_cast<Size>(total / s.runtime->utilization));
}

}  // namespace headroom::model
