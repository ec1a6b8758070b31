// The engine's behaviour with a written file, compared with the estimate in that file.
#include "sweep/launch/launch.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "model/answer/explain.hpp"
#include "model/infer/placement/device_map.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

using test::catalogue_model;
using test::machine;

/// Entries of a dictionary of the script: {"0": "36449MiB", "cpu": …}.
std::vector<std::pair<std::string, std::string>> dictionary(const std::string& script,
                                                            const std::string& name) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto start = script.find(name + " = {\n");
  if (start == std::string::npos) return all;
  const std::string text = script.substr(start, script.find("\n}\n", start) - start);
  const std::regex entry(R"re(^    "?([^":]*)"?: "?([^",]*)"?,$)re", std::regex::multiline);
  for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at)
    all.emplace_back((*at)[1], (*at)[2]);
  return all;
}

/// The device map that from_pretrained computes from the script, with transformers 4 or 5.
model::DeviceMap made_of(const std::string& script, const LaunchPoint& point,
                         model::Mapper mapper) {
  if (script.find("device_map=DEVICE_MAP") != std::string::npos)
    return dictionary(script, "DEVICE_MAP");
  EXPECT_NE(script.find("device_map=\"sequential\""), std::string::npos);
  std::vector<std::string> entries;
  for (const auto& [device, amount] : dictionary(script, "MAX_MEMORY"))
    entries.push_back(device + '=' + amount);
  const model::Model& model = point.model();
  const auto type = model::mapper_dtype(point.scheme().name);
  const bool four = mapper == model::Mapper::accelerate;
  const model::ModuleTree tree(model.part, four ? type : std::nullopt, type->element,
                               four ? model::Counting::accelerate : model::Counting::transformers);
  return model::infer_device_map(tree, model::parse_max_memory(entries),
                                 {.mapper = mapper, .no_split = model.part.no_split});
}

/// First and last layer of each device of the estimate, against those of a map.
void expect_same(const LaunchPoint& point, const model::DeviceMap& map, const std::string& what) {
  const model::Assignment made = model::assignment_of(point.model(), map);
  std::map<std::string, std::pair<Size, Size>> of_map, of_estimate;
  for (std::size_t i = 0; i < made.layer.size(); ++i) {
    const model::Spot spot = made.layer[i];
    const std::string device = spot >= 0               ? fmt::format("gpu {}", spot)
                               : spot == model::on_cpu ? "cpu"
                                                       : "disk";
    const auto layer = static_cast<Size>(i);
    of_map.try_emplace(device, layer, layer).first->second.second = layer;
  }
  for (const auto& use : point.explained.devices)
    if (use.first_layer >= 0)
      of_estimate[use.name.substr(0, use.name.find(':'))] = {use.first_layer, use.last_layer};
  EXPECT_EQ(of_map, of_estimate) << what;
}

TEST(Launch, TheScriptMakesThePlacementWhoseFiguresItPrints) {
  int scripts = 0, by_limits = 0;
  for (const char* name :
       {"ai21labs/Jamba-v0.1", "Qwen/Qwen3-32B", "meta-llama/Llama-3.3-70B-Instruct",
        "facebook/opt-30b", "mistralai/Mixtral-8x7B-v0.1", "google/gemma-2-9b", "Qwen/Qwen3-0.6B"})
    for (const char* held : {"bf16", "fp16", "int8", "nf4"})
      for (const Machine& box : {machine(2, 80, 1000), machine(2, 40, 120), machine(1, 24, 64),
                                 machine(4, 24, 64), machine(1, 8, 32), machine(0, 1, 256)}) {
        const model::QuantisedModel weights =
            model::quantise(catalogue_model(name), model::scheme(held));
        model::Scenario s = test::scenario(weights, box, "transformers");
        const model::Explanation explained = model::explain(s);
        if (explained.estimate.verdict >= model::Verdict::does_not_fit) continue;
        const LaunchPoint point{s, explained, {}};
        const std::string script = transformers_script(point);
        for (const auto mapper : {model::Mapper::accelerate, model::Mapper::transformers})
          expect_same(point, made_of(script, point, mapper),
                      fmt::format("{} in {} on {} cards of {}", name, held, box.devices.size(),
                                  box.host.ram.count()));
        for (const auto& use : explained.devices) {
          if (use.where != model::Where::card) continue;
          // bitsandbytes limits the weights alone, and the script has their map.
          const bool packed = weights.scheme->family == model::SchemeFamily::bitsandbytes;
          const Bytes limited = packed ? use.weights : use.total;
          EXPECT_LE(limited.count(), use.capacity.count() / 10 * 9 + 10) << name;
          EXPECT_LE(use.total, use.capacity) << name;
        }
        ++scripts;
        if (script.find("MAX_MEMORY = {") != std::string::npos) ++by_limits;
      }
  EXPECT_GE(scripts, 60);
  EXPECT_GE(by_limits, 40);
}

TEST(Launch, ABudgetThatWasGivenIsKept) {
  const Machine box = machine(1, 24, 64);
  const model::QuantisedModel weights =
      model::quantise(catalogue_model("Qwen/Qwen3-0.6B"), model::scheme("bf16"));
  model::Scenario s = test::scenario(weights, box, "transformers");
  s.gpu_budget = Bytes(Size{3} << 30);
  EXPECT_EQ(model::explain(s).devices.front().budget.count(), Size{3} << 30);
}

}  // namespace
}  // namespace headroom::sweep
