#include "sweep/ways.hpp"

#include <algorithm>
#include <map>

#include "hardware/names.hpp"
#include "model/answer/way_order.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/engine/card_class.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::sweep {
namespace {

using model::Confidence;
using model::Verdict;

/// A checkpoint in 32 bit is served in 16: vLLM 0.33 config/model.py _resolve_auto_dtype, llama.cpp
/// convert_hf_to_gguf.py --outtype auto.
const model::Scheme& sixteen_bit(const model::Scheme& scheme) {
  return scheme.name == "fp32" ? model::scheme("fp16") : scheme;
}

double bits_of(const model::QuantisedModel& weights) {
  return model::bits_per_parameter(weights.total,
                                   static_cast<double>(weights.model->profile.parameters));
}

/// Repositories of GGUF files end so on the hub: "org/name-GGUF", "org/name-GGUF:Q4_K_M".
bool is_of_gguf_files(const model::Model& model) {
  return lower(model.repository).substr(0, model.repository.find(':')).ends_with("-gguf");
}

bool reads_gguf(const model::Engine& engine) {
  return std::ranges::find(engine.weights.formats, model::SchemeFamily::gguf) !=
         engine.weights.formats.end();
}

bool is_refused(const Way& way) { return way.estimate.verdict == Verdict::refused; }

}  // namespace

model::WayPlace place_of(const Way& way, double own) {
  return model::way_place(way.estimate, way.tight,
                          way.is_own() ? own : std::min(own, bits_of(*way.weights)));
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
  if (s.gpu_budget != model::unlimited || s.gpu_share > 0 || memory.sets_aside() ||
      memory.leaves_margin())
    return Bytes(0);
  Bytes most(0);
  for (const Device& card : s.machine->devices) most = std::max(most, spare_memory(card));
  return most;
}

bool is_tight(const model::Scenario& scenario, const model::Estimate& e) {
  if (!model::is_on_gpus(e)) return false;
  return e.sure == Confidence::marginal ||
         e.gpu_bytes_high + spare_memory(scenario) > model::card_budget(scenario, 0);
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
                                                     const Machine& machine) {
  std::vector<const model::Engine*> all, fitting;
  for (const model::Engine& engine : engines.all()) {
    if (!engine.is_compared) continue;
    all.push_back(&engine);
    if (model::runs_on(engine, machine) && model::serves_class(engine, model) &&
        (!is_of_gguf_files(model) || reads_gguf(engine)))
      fitting.push_back(&engine);
  }
  return fitting.empty() ? all : fitting;
}

std::vector<Way> compare_ways(const model::Model& model, model::Scenario scenario,
                              const Compared& compared) {
  const model::TensorIndex index(model);
  std::map<const model::Scheme*, std::shared_ptr<const model::QuantisedModel>> held;
  const auto weights_in = [&](const model::Scheme& scheme) {
    auto& weights = held[&scheme];
    if (!weights) weights = std::make_shared<model::QuantisedModel>(model::quantise(index, scheme));
    return weights;
  };
  const model::Scheme& checkpoint = model::scheme(model.checkpoint_scheme);
  const double own = bits_of(*weights_in(checkpoint));
  std::vector<Way> ways;
  for (const model::Engine* engine : compared.engines) {
    std::vector<std::string> names = compared.precisions;
    if (names.empty())
      names.assign(engine->usual_precisions.begin(), engine->usual_precisions.end());
    // An engine that reads a quantised checkpoint as it is needs no other format as wide.
    bool reads_checkpoint = false;
    for (const std::string& name : names) {
      const bool is_own = name == "auto";
      const model::Scheme* asked = is_own ? nullptr : &model::scheme(name);
      const model::Scheme& loaded = model::loaded_scheme(model, asked, *engine, *scenario.machine);
      const auto weights = weights_in(is_own ? sixteen_bit(loaded) : loaded);
      if (reads_checkpoint && !is_own && bits_of(*weights) >= own) continue;
      scenario.runtime = engine;
      scenario.weights = weights.get();
      const model::Estimate estimate = evaluate(scenario);
      const bool offloads = model::fits(estimate.verdict) && !model::is_on_gpus(estimate);
      ways.push_back({engine, weights, estimate, is_tight(scenario, estimate), asked,
                      offloads ? share_off_cards(scenario) : 0});
      ways.back().place = place_of(ways.back(), own);
      if (is_own)
        reads_checkpoint =
            checkpoint.family != model::SchemeFamily::plain && estimate.verdict != Verdict::refused;
    }
  }
  std::ranges::stable_sort(ways, [](const Way& a, const Way& b) { return a.place < b.place; });
  if (!is_refused(ways.front())) std::erase_if(ways, is_refused);
  return ways;
}

std::vector<const Way*> best_of_each_precision(std::span<const Way> ways, std::size_t most) {
  std::vector<const Way*> best;
  for (const Way& way : ways)
    if (best.size() < most && std::ranges::none_of(best, [&](const Way* other) {
          return other->weights->scheme == way.weights->scheme;
        }))
      best.push_back(&way);
  return best;
}

}  // namespace headroom::sweep
