#include "model/answer/advice.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "model/answer/advice_changes.hpp"
#include "model/answer/split_advice.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

using AdviceKind = Advice::Kind;

/// Names of the engines that have kernels for the machine's cards and the model's class, the latest
/// version of each.
std::vector<std::string_view> engines_for(const Scenario& s) {
  std::vector<std::string_view> names;
  for (const Engine& each : engines())
    if (each.name == each.family && runs_on(each, *s.machine) &&
        serves_class(each, *s.weights->model))
      names.push_back(each.name);
  return names;
}

/// The number of last layers that would fit, if the options ask for another number.
std::optional<Advice> other_layers(const Scenario& s, const Estimate& e) {
  if (s.layer_split == nullptr || s.layer_split->gpu_layers < 0) return {};
  LayerSplit most = *s.layer_split;
  most.gpu_layers = -1;
  Scenario changed = s;
  changed.layer_split = &most;
  const Plan plan = place(changed, 1.0);
  const Size fits =
      counted_layers(*s.weights->model, plan.on_cards) + (plan.head == Where::card ? 1 : 0);
  const bool short_of = e.verdict == Verdict::does_not_fit && e.reason == Reason::gpu_memory;
  if (!plan.feasible() || (!short_of && fits <= s.layer_split->gpu_layers)) return {};
  return Advice{.kind = AdviceKind::fewer_layers, .amount = fits};
}

/// A scenario without the options that keep weights in host memory.
class FreedScenario {
 public:
  explicit FreedScenario(const Scenario& s) : scenario_(s) {
    if (s.cpu_offload > Bytes(0)) {
      scenario_.cpu_offload = Bytes(0);
      freed_ = Freed::cpu_offload;
    }
    if (s.layer_split != nullptr && s.layer_split->on_host.matched > 0) {
      split_ = *s.layer_split;
      split_.on_host = {};
      split_.gpu_layers = -1;
      scenario_.layer_split = &split_;
      freed_ = Freed::host_tensors;
    }
    if (s.gpu_budget == Bytes(0) && !s.machine->devices.empty()) {
      load_for_cards();
      scenario_.gpu_budget = unlimited;
      freed_ = Freed::no_budget;
    }
  }
  FreedScenario(const FreedScenario&) = delete;  // the scenario points into it
  FreedScenario& operator=(const FreedScenario&) = delete;

  const Scenario& scenario() const { return scenario_; }
  /// `change`, and with it these options left out.
  std::optional<Advice> with(std::optional<Advice> change) const {
    if (change) change->freed = freed_;
    return change;
  }
  /// True if leaving them out alone puts everything on the cards.
  bool enough() const { return freed_ != Freed::none && all_on_gpus(evaluate(scenario_)); }
  /// Leaving them out alone; empty: there are none, or that is no quicker than `now`, some weights
  /// staying in host memory all the same.
  std::optional<Advice> alone(Seconds now) const {
    if (freed_ == Freed::none) return {};
    const Estimate e = evaluate(scenario_);
    if (e.verdict >= Verdict::does_not_fit || (e.total >= now && !all_on_gpus(e))) return {};
    return with(Advice{.kind = AdviceKind::freed_alone, .then = after_change(e)});
  }

 private:
  /// Weights that are unpacked for the CPU stay as they are stored on cards.
  void load_for_cards() {
    const Model& model = *scenario_.weights->model;
    const Engine& engine = *scenario_.runtime;
    const Scheme& unpacked = loaded_scheme(model, nullptr, engine, computing_machine(scenario_));
    if (&unpacked != scenario_.weights->scheme) return;
    const Scheme& on_cards = loaded_scheme(model, nullptr, engine, *scenario_.machine);
    if (&on_cards == scenario_.weights->scheme) return;
    weights_.emplace(loaded_weights(model, on_cards, engine));
    scenario_.weights = &*weights_;
  }

  Scenario scenario_;
  LayerSplit split_;
  std::optional<QuantisedModel> weights_;
  Freed freed_ = Freed::none;
};

/// Compared engines that do not refuse the scenario. If all do, others that do not.
std::vector<std::string_view> engines_that_load(Scenario s) {
  std::vector<std::string_view> compared, others;
  s.layer_split = nullptr;  // options of another engine
  for (const Engine& each : engines()) {
    if (each.name != each.family) continue;
    s.runtime = &each;
    if (evaluate(s).verdict != Verdict::refused)
      (each.is_compared ? compared : others).push_back(each.name);
  }
  return compared.empty() ? others : compared;
}

/// Other engines that hold the weights of `s`, on whatever cards.
std::vector<std::string_view> engines_that_hold(const Scenario& s) {
  std::vector<std::string_view> names;
  for (const Engine& each : engines())
    if (each.name == each.family && &each != s.runtime &&
        each.weights.holds(s.weights->scheme->family))
      names.push_back(each.name);
  return names;
}

/// Other engines for the precision, and the precisions of this one.
Advice other_precision(const Scenario& s) {
  Advice other{
      .kind = AdviceKind::other_precision,
      .engine = s.runtime->name,
      .name = s.weights->scheme->name,
      .names = usual_precisions(*s.runtime, *s.machine),
      .others = engines_that_load(s),
      .text = s.weights->refusal.empty()
                  ? loading_refusal(*s.weights->model, *s.weights->scheme, *s.runtime, *s.machine)
                  : s.weights->refusal};
  if (!other.others.empty() || !s.weights->refusal.empty()) return other;
  other.others = engines_that_hold(s);
  other.amount = 1;
  return other;
}

/// Advice that follows from the reason of a refusal. Empty: the reason suggests none.
std::vector<Advice> for_refusal(const Scenario& s, Reason reason) {
  switch (reason) {
    case Reason::precision_unsupported:
      return {other_precision(s)};
    case Reason::cache_unsupported:
      return {cache_formats(s)};
    case Reason::context_too_long:
      return {{.kind = AdviceKind::at_most_context, .amount = s.weights->model->shape.positions}};
    case Reason::cache_required:
      return {{.kind = AdviceKind::keep_cache}};
    case Reason::cards_unsupported:
      return {{.kind = AdviceKind::engines_for_cards,
               .engine = s.runtime->name,
               .names = engines_for(s),
               .text = text_of(s.runtime->cards)}};
    case Reason::model_unsupported:
      return {{.kind = AdviceKind::engines_for_model,
               .name = s.weights->model->architecture,
               .names = engines_for(s)}};
    case Reason::no_gpu:
      if (auto engine = without_cards(s)) return {*engine};
      return {{.kind = AdviceKind::needs_gpu, .engine = s.runtime->name}};
    default:
      return is_of_split(reason) ? other_splits(s) : std::vector<Advice>();
  }
}

/// The number of sequences at once that the program would ask for, where a stated one is too large.
std::optional<Advice> other_sequences(const Scenario& s) {
  if (s.max_sequences == 0) return {};
  Scenario open = s;
  open.max_sequences = 0;
  const Estimate e = evaluate(open);
  if (!all_on_gpus(e)) return {};
  const Size asked = sequences_to_ask_for(open);
  return Advice{.kind = AdviceKind::other_sequences,
                .then = after_change(e),
                .amount = asked > 0 ? asked : usual_sequences(s)};
}

/// Every change that helps, of what the scenario asks for.
std::vector<Advice> changes_that_help(const Scenario& s, const Estimate& e) {
  std::vector<Advice> changes;
  const auto add = [&](std::optional<Advice> change) {
    if (change) changes.push_back(std::move(*change));
  };
  const bool fails = e.verdict == Verdict::does_not_fit;
  if (auto layers = other_layers(s, e)) {
    changes.push_back(*layers);
    if (e.verdict < Verdict::does_not_fit) return changes;
  }
  constexpr Seconds never{std::numeric_limits<double>::infinity()};
  const Seconds now = e.verdict < Verdict::does_not_fit ? e.total : never;
  const FreedScenario freed(s);
  if (freed.enough()) {
    const auto alone = freed.alone(now);
    return alone ? std::vector<Advice>{*alone} : std::vector<Advice>();
  }
  add(on_cpu_alone(s, e));
  add(freed.alone(now));
  if (!s.machine->devices.empty()) add(freed.with(other_sequences(freed.scenario())));
  auto fewer = fewer_bits(freed.scenario(), now);
  if (!fewer) fewer = usable_bits(freed.scenario(), e);
  add(freed.with(std::move(fewer)));
  if (!s.machine->devices.empty())
    for (auto* change : {larger_share, text_only, narrower_cache, shorter_context, smaller_batch})
      add(freed.with(change(freed.scenario())));
  add(freed.with(more_cards(freed.scenario())));
  if (fails) {
    add(caches_off_cards(s));
    add(offload_elsewhere(s));
  }
  if (fails && e.reason == Reason::ram && !s.machine->has_unified_memory())
    changes.push_back({.kind = AdviceKind::host_memory, .before = e.short_bytes});
  if (fails && e.reason == Reason::disk)
    changes.push_back({.kind = AdviceKind::disk, .before = e.short_bytes});
  if (changes.empty())
    changes.push_back({.kind = AdviceKind::smaller_model, .amount = fits(e.verdict) ? 1 : 0});
  return changes;
}

}  // namespace

std::vector<Advice> advice(const Scenario& s, const Estimate& e) {
  if (all_on_gpus(e) || s.assignment != nullptr) return {};
  auto refusal = for_refusal(s, e.reason);
  return refusal.empty() ? changes_that_help(s, e) : refusal;
}

namespace {

/// The least memory of the machine's cards, all alike, that holds everything, to a mebibyte. 0: no
/// memory does. The context that was asked for stays, although an engine's own may grow with cards.
Bytes least_memory(Scenario s) {
  if (s.default_context() > 0) s.context = s.cached_tokens();
  Machine machine = *s.machine;
  s.machine = &machine;
  const auto holds = [&](Size mebibytes) {
    for (Device& card : machine.devices) set_memory(card, mebibytes * mebibyte);
    return all_on_gpus(evaluate(s));
  };
  constexpr Size most = Size{1} << 30;
  Size low = 0, high = std::max<Size>(1, s.weights->total.count() >> 20);
  while (!holds(high)) {
    if (high > most) return Bytes(0);
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const Size middle = (low + high) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high * mebibyte;
}

}  // namespace

Bytes min_card(const Scenario& asked) {
  if (asked.machine->devices.empty() || asked.assignment != nullptr) return Bytes(0);
  Machine machine = *asked.machine;
  machine.devices.resize(1);
  machine.host.ram = machine.host.disk = ample;
  Scenario s = asked;
  s.machine = &machine;
  s.gpu_budget = s.ram_budget = s.disk_budget = unlimited;
  s.gpu_share = 0;
  s.layer_split = nullptr;
  s.tensor_parallel = s.pipeline_parallel = s.expert_parallel = s.data_parallel = 0;
  return least_memory(s);
}

Bytes needed_of_each_card(const Scenario& s, const Estimate& e) {
  const bool would_help = e.verdict == Verdict::does_not_fit && e.reason == Reason::gpu_memory &&
                          s.runtime->memory.sets_aside() && s.assignment == nullptr &&
                          s.gpu_budget == unlimited;
  return would_help ? least_memory(s) : Bytes(0);
}

}  // namespace headroom::model
