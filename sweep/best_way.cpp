#include "sweep/best_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/infer/scenario/usual_context.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {
namespace {

bool is_easily_on_cards(const Way& way) {
  return model::is_on_gpus(way.estimate) && !way.tight && way.estimate.queued == 0;
}

/// As compare_ways() with the usual precisions. No narrower one is first if the checkpoint's own
/// has room under every engine: half the bytes are less than twice as fast.
std::vector<Way> usual_ways(const model::Model& model, const model::Scenario& scenario,
                            const Compared& usual, Narrower narrower) {
  HeldWeights held(model);
  if (narrower == Narrower::if_needed && !model::is_quantised(model)) {
    auto own = compare_ways(held, scenario, {usual.engines, {"auto"}});
    if (std::ranges::all_of(own, is_easily_on_cards)) return own;
  }
  return compare_ways(held, scenario, usual);
}

/// The first, and those that may stand in for it.
std::vector<Way> with_stand_ins(std::vector<Way> ways, const Machine& machine,
                                OffloadedWays offload) {
  const bool anywhere = offload == OffloadedWays::accepted || machine.devices.empty();
  const auto useless = [&](const Way& way) {
    return !(anywhere ? model::fits(way.estimate) : model::is_on_gpus(way.estimate));
  };
  ways.erase(std::remove_if(ways.begin() + 1, ways.end(), useless), ways.end());
  return ways;
}

/// The engines that are compared where both engine and precision may be chosen.
std::vector<const model::Engine*> compared_engines(const AskedWay& asked, const Engines& engines,
                                                   const model::Model& model,
                                                   const model::Scenario& scenario) {
  const Machine& machine = *scenario.machine;
  if (asked.engine) return {asked.engine};
  if (!has_makers(machine)) return {&engines.named("transformers")};
  auto all = comparable_engines(engines, model, machine, asked.precisions);
  if (scenario.max_sequences == 0) return all;
  std::erase_if(all, [](const auto* each) { return each->memory.start_pass.sequences == 0; });
  if (all.empty())
    throw UsageError(
        fmt::format("--max-num-seqs: no engine that is compared on {} has it; "
                    "--runtime vllm",
                    machine.name));
  return all;
}

}  // namespace

AskedWay asked_way(const Options& options, const Engines& engines) {
  options.exclusive({"precision", "precisions"});
  AskedWay asked;
  asked.has_usual_context = !says_context(options);
  if (options.given("runtime")) asked.engine = &engines.named(options.text("runtime"));
  for (const auto* flag : {"precision", "precisions"})
    for (auto& name : options.texts(flag)) asked.precisions.push_back(std::move(name));
  for (const auto& name : asked.precisions)
    if (name != "auto") model::scheme(name);  // a name that is not known is said before any work
  return asked;
}

bool has_makers(const Machine& machine) {
  return std::ranges::none_of(machine.devices,
                              [](const Device& card) { return card.vendor.empty(); });
}

std::vector<std::vector<Way>> best_ways(const AskedWay& asked, const Engines& engines,
                                        const model::Model& model, model::Scenario scenario,
                                        OffloadedWays offload, Narrower narrower) {
  if (asked.has_usual_context) scenario.context = model::usual_context(scenario, model);
  std::vector<std::vector<Way>> all;
  const auto compared = compared_engines(asked, engines, model, scenario);
  if (!has_makers(*scenario.machine) || (asked.engine && !asked.precisions.empty())) {
    HeldWeights held(model);
    const std::vector<std::string> own{"auto"};
    for (const auto& name : asked.precisions.empty() ? own : asked.precisions)
      all.push_back({way_of(held, scenario, *compared.front(),
                            name == "auto" ? nullptr : &model::scheme(name))});
    return all;
  }
  if (asked.precisions.empty())
    all.push_back(with_stand_ins(
        usual_ways(model, scenario, {compared, {}, asked.engine != nullptr}, narrower),
        *scenario.machine, offload));
  for (const auto& name : asked.precisions)
    all.push_back(with_stand_ins(compare_ways(model, scenario, {compared, {name}}),
                                 *scenario.machine, offload));
  return all;
}

}  // namespace headroom::sweep
