#include "sweep/ways.hpp"

#include <algorithm>

#include "hardware/names.hpp"
#include "model/answer/narrow_formats.hpp"
#include "model/answer/rest_for_host.hpp"
#include "model/answer/way_order.hpp"
#include "model/engine/card_class.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/high_end.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/service.hpp"

namespace headroom::sweep {
namespace {

using model::Verdict;

/// Repositories of GGUF files end so on the hub: "org/name-GGUF", "org/name-GGUF:Q4_K_M".
bool is_of_gguf_files(const model::Model& model) {
  return lower(model.repository).substr(0, model.repository.find(':')).ends_with("-gguf");
}

bool reads_any(const model::Engine& engine, std::span<const std::string> precisions) {
  return std::ranges::any_of(precisions,
                             [&](const std::string& name) { return reads(engine, name); });
}

/// Tokens a second that each request sees, not all of a batch together.
double tokens_s_of_each(const Way& way) { return 1 / way.estimate.tpot.value(); }

bool is_usable(const Way& way) {
  return model::fits(way.estimate) && !model::is_too_slow(way.estimate);
}

/// True if 4 bits or more leave nothing to ask of narrower weights: on cards, or fast enough.
bool is_comfortable(const Way& way) {
  constexpr double tokens_s = 10;
  return !below_four_bits(way) && model::fits(way.estimate) && way.estimate.queued == 0 &&
         (model::is_on_gpus(way.estimate) || tokens_s_of_each(way) >= tokens_s ||
          !way.weights->model->writes());
}

bool is_refused(const Way& way) { return way.estimate.verdict == Verdict::refused; }

/// Bits that weights count at most: those of the checkpoint, and of the precision that was asked
/// for. Weights that an engine unpacks hold no more.
double most_bits(HeldWeights& held, const model::Scheme* asked) {
  const double own =
      model::bits_per_parameter(*held.in(model::scheme(held.model().checkpoint_scheme)));
  if (asked == nullptr || !held.in(*asked)->refusal.empty()) return own;
  return std::min(own, model::bits_per_parameter(*held.in(*asked)));
}

}  // namespace

Way way_of(HeldWeights& held, model::Scenario s, const model::Engine& engine,
           const model::Scheme* asked) {
  const model::Model& model = held.model();
  Way way{.engine = &engine, .weights = {}, .estimate = {}, .asked = asked};
  way.weights =
      held.in(model::loaded_scheme(model, asked, engine, model::computing_machine(s)), engine);
  s.runtime = &engine;
  s.weights = way.weights.get();
  way.estimate = evaluate(s);
  way.gpu_budget = s.gpu_budget;
  way.tight = is_tight(s, way.estimate);
  way.without_towers = leaves_towers_out(engine, model);
  way.bits = most_bits(held, asked);
  if (!way.is_own()) way.bits = std::min(way.bits, model::bits_per_parameter(*way.weights));
  const bool offloads = model::fits(way.estimate.verdict) && !model::is_on_gpus(way.estimate);
  way.off_cards = offloads ? share_off_cards(s) : 0;
  way.place = place_of(way, s);
  return way;
}

namespace {

/// True if the cards compute with weights that each pass brings from host memory or disk, or have
/// no room even for that. Nothing was said about budgets.
bool waits_for_weights(const Way& way, const model::Scenario& s) {
  const model::OffloadPolicy& offload = way.engine->offload;
  return offload.mode == model::Offload::stream && offload.cpu && !s.machine->devices.empty() &&
         !is_refused(way) && !model::is_on_gpus(way.estimate) && s.gpu_budget == model::unlimited &&
         s.gpu_share == 0 && s.layer_split == nullptr && s.assignment == nullptr;
}

/// As way_of(). On the CPU alone, where that comes before cards that wait for weights.
Way best_of_budgets(HeldWeights& held, const model::Scenario& s, const model::Engine& engine,
                    const model::Scheme* asked) {
  Way way = way_of(held, s, engine, asked);
  if (!waits_for_weights(way, s)) return way;
  model::Scenario alone = s;
  alone.gpu_budget = Bytes(0);
  Way on_cpu = way_of(held, alone, engine, asked);
  return model::fits(on_cpu.estimate) && on_cpu.place < way.place ? on_cpu : way;
}

}  // namespace

bool reads(const model::Engine& engine, std::string_view precision) {
  return precision == "auto" || engine.weights.holds(model::scheme(precision).family);
}

bool below_four_bits(const Way& way) { return model::is_below_four_bits(*way.weights->scheme); }

double served_tokens_s(const model::Scenario& s, const model::Estimate& e) {
  if (!model::fits(e.verdict)) return 0;
  const double copies = static_cast<double>(std::max<Size>(1, s.data_parallel));
  return model::service_of(s, e).output_tokens_s(s) * copies;
}

model::WayFacts facts_of(const Way& way) {
  return {.tight = way.tight,
          .bits = way.bits,
          .requantised = !way.is_own() && model::is_quantised(*way.weights->model),
          .without_towers = way.without_towers};
}

model::WayPlace place_of(const Way& way, const model::Scenario& s) {
  const bool several = s.batch > 1 && way.weights->model->writes();
  model::WayFacts facts = facts_of(way);
  facts.one_batch =
      several && model::fits(way.estimate) && !model::batches_continuously(s, way.estimate);
  facts.served_tokens_s = several ? served_tokens_s(s, way.estimate) : 0;
  return model::way_place(way.estimate, facts);
}

Bytes spare_memory(const Device& card) {
  constexpr Bytes plain{Size{1} << 30}, with_display{Size{3} << 29};
  if (card.unified_memory) return Bytes(0);
  const auto of = model::card_class(card);
  const bool hbm = of == model::CardClass::hbm || of == model::CardClass::hopper;
  return hbm ? plain : with_display;
}

Bytes spare_memory(const model::Scenario& s) {
  const model::MemoryPolicy& memory = s.runtime->memory;
  if (s.gpu_budget != model::unlimited || s.gpu_share > 0 || memory.sets_aside()) return Bytes(0);
  if (s.machine->has_unified_memory()) return model::host_needs_of(*s.machine);
  if (memory.leaves_margin() && !model::never_splits_weights(s)) return Bytes(0);
  Bytes most(0);
  for (const Device& card : s.machine->devices) most = std::max(most, spare_memory(card));
  return most;
}

namespace {

/// True if an engine without measured memory exceeds a card at the high end of its interval.
/// is_at_limit() leaves such an engine out.
bool is_full_unmeasured(const model::Scenario& asked) {
  if (asked.runtime->memory.interval.measurements > 0) return false;
  const model::Scenario s = model::admitted_scenario(asked);
  const model::Uses uses(s);
  if (s.runtime->parallel.split == model::Split::tensors)
    return !model::holds_division(uses, s.runtime->memory.interval.high);
  return !model::holds_at_high_end(uses, model::place(uses, 1.0));
}

}  // namespace

bool is_tight(const model::Scenario& scenario, const model::Estimate& e) {
  if (!model::is_on_gpus(e)) return false;
  return model::is_at_limit(*scenario.runtime, e) || is_full_unmeasured(scenario) ||
         (e.queued == 0 &&
          e.gpu_bytes_high + spare_memory(scenario) > model::largest_card_budget(scenario));
}

double share_off_cards(const model::Scenario& asked) {
  const model::Scenario s = model::admitted_scenario(asked);
  const model::Plan plan = model::place(s, 1.0);
  if (!plan.feasible() || s.weights->total == Bytes(0)) return 0;
  Bytes off = model::Uses(s).host_weights(plan) + model::disk_use(s, plan);
  if (plan.embedding == model::Where::cpu && s.runtime->offload.input_on_cpu)
    off -= s.weights->embedding;
  return off.real() / s.weights->total.real();
}

std::vector<const model::Engine*> comparable_engines(const Engines& engines,
                                                     const model::Model& model,
                                                     const Machine& machine,
                                                     std::span<const std::string> precisions) {
  std::vector<const model::Engine*> all, fitting, others;
  for (const model::Engine& engine : engines.all()) {
    const bool suits =
        model::runs_on(engine, machine) && (engine.offload.cpu || !machine.devices.empty()) &&
        model::serves_class(engine, model) &&
        (!is_of_gguf_files(model) || engine.weights.holds(model::SchemeFamily::gguf));
    if (engine.is_compared) all.push_back(&engine);
    if (engine.is_compared && suits) fitting.push_back(&engine);
    if (!engine.is_compared && suits && engine.name == engine.family &&
        reads_any(engine, precisions))
      others.push_back(&engine);
  }
  const auto reads_one = [&](const auto* each) { return reads_any(*each, precisions); };
  if (!others.empty() && std::ranges::none_of(fitting, reads_one)) return others;
  return fitting.empty() ? all : fitting;
}

std::vector<std::string_view> narrow_precisions(const model::Engine& engine) {
  std::vector<std::string_view> all;
  if (!engine.weights.holds(model::SchemeFamily::gguf)) return all;
  for (const std::string_view name : model::narrow_formats)
    if (std::ranges::find(engine.usual_precisions, name) == engine.usual_precisions.end())
      all.push_back(name);
  return all;
}

std::shared_ptr<const model::QuantisedModel> HeldWeights::in(const model::Scheme& scheme) {
  auto& weights = made_[{&scheme, {}}];
  if (!weights) weights = std::make_shared<model::QuantisedModel>(model::quantise(index_, scheme));
  return weights;
}

std::shared_ptr<const model::QuantisedModel> HeldWeights::in(const model::Scheme& scheme,
                                                             const model::Engine& engine) {
  const model::LoadedForm form = loaded_form(engine, model(), scheme);
  if (form == model::LoadedForm{}) return in(scheme);
  auto& weights = made_[{&scheme, form}];
  if (!weights)
    weights = std::make_shared<model::QuantisedModel>(loaded_weights(model(), scheme, engine));
  return weights;
}

std::vector<Way> compare_ways(const model::Model& model, const model::Scenario& scenario,
                              const Compared& compared) {
  HeldWeights held(model);
  return compare_ways(held, scenario, compared);
}

std::vector<Way> compare_ways(HeldWeights& held, const model::Scenario& scenario,
                              const Compared& compared) {
  const model::Model& model = held.model();
  const double own = most_bits(held, nullptr);
  std::vector<Way> ways;
  const auto add = [&](const model::Engine& engine, std::string_view name, bool reads_own) {
    const model::Scheme* asked = name == "auto" ? nullptr : &model::scheme(name);
    const model::Scheme& loaded = model::loaded_scheme(model, asked, engine, *scenario.machine);
    if (reads_own && asked != nullptr && model::bits_per_parameter(*held.in(loaded, engine)) >= own)
      return;
    ways.push_back(best_of_budgets(held, scenario, engine, asked));
  };
  for (const model::Engine* engine : compared.engines) {
    std::vector<std::string_view> names(compared.precisions.begin(), compared.precisions.end());
    if (names.empty())
      names = compared.engine_asked ? model::asked_precisions(*engine, *scenario.machine, model)
                                    : model::usual_precisions(*engine, *scenario.machine);
    // An engine that runs a quantised checkpoint as it is needs no other format as wide.
    bool reads_own = false;
    for (const std::string_view name : names) {
      add(*engine, name, reads_own);
      if (name == "auto")
        reads_own = model::is_quantised(model) && model::fits(ways.back().estimate);
    }
  }
  if (compared.precisions.empty() && std::ranges::none_of(ways, is_comfortable))
    for (const model::Engine* engine : compared.engines)
      for (const auto name : narrow_precisions(*engine)) {
        const std::size_t before = ways.size();
        add(*engine, name, true);
        if (ways.size() > before && !is_usable(ways.back())) ways.pop_back();
      }
  std::ranges::stable_sort(ways, [](const Way& a, const Way& b) { return a.place < b.place; });
  if (!is_refused(ways.front())) std::erase_if(ways, is_refused);
  return ways;
}

}  // namespace headroom::sweep
