// More memory, more bandwidth or a faster bus never makes an answer worse. Drawn models, machines
// and engines have one of them doubled: the tokens a second and the sequences that run at once do
// not fall. Cards have a test of their own (tests/cli/more_cards_test.cpp), as answers may say why.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>

#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model::more_is_not_worse {
namespace {

constexpr const char* models[] = {"Qwen/Qwen3-8B",        "Qwen/Qwen3-32B",
                                  "Qwen/Qwen3-30B-A3B",   "openai/gpt-oss-20b",
                                  "openai/gpt-oss-120b",  "google/gemma-3-27b-it",
                                  "microsoft/phi-2",      "meta-llama/Llama-3.3-70B-Instruct",
                                  "Qwen/Qwen3.6-27B",     "mistralai/Mixtral-8x7B-v0.1",
                                  "Qwen/Qwen3-235B-A22B", "Qwen/Qwen3.8-Flash-Next"};
constexpr const char* machines[] = {"rtx-4060",
                                    "rtx-4090",
                                    "2x rtx-3090",
                                    "1x rtx-4090 + 1x rtx-3060-12gb",
                                    "4x rtx-4090 @ epyc-rome-512gb",
                                    "h100-sxm-80gb",
                                    "2x a100-sxm-40gb",
                                    "8x h200-sxm-141gb",
                                    "m4-max-64gb",
                                    "dgx-spark"};

/// One thing of a machine, twice as large or as fast.
struct Doubled {
  const char* name;
  void (*change)(Machine&);
};
constexpr Doubled doubled[] = {
    {"memory of the cards",
     [](Machine& m) {
       for (Device& card : m.devices)
         if (!card.unified_memory) set_memory(card, 2 * card.memory);
     }},
    {"bandwidth of the cards",
     [](Machine& m) {
       for (Device& card : m.devices) card.bandwidth = 2.0 * card.bandwidth;
     }},
    {"RAM", [](Machine& m) { m.host.ram = 2 * m.host.ram; }},
    {"bandwidth of the RAM", [](Machine& m) { m.host.ram_bandwidth = 2.0 * m.host.ram_bandwidth; }},
    {"bus",
     [](Machine& m) {
       for (Device& card : m.devices) card.host_bus = 2.0 * card.host_bus;
       m.host.host_bus = 2.0 * m.host.host_bus;
     }},
    {"links of the cards", [](Machine& m) {
       for (Device& card : m.devices) card.link = 2.0 * card.link;
       m.host.card_link = 2.0 * m.host.card_link;
     }}};

struct Drawn {
  const Engine* engine = nullptr;
  const QuantisedModel* weights = nullptr;
  Machine machine;
  Size batch = 1;
  std::string words;
};

class Draws {
  template <class T>
  auto one_of(const T& all) {
    return all[random_() % std::size(all)];
  }

 public:
  std::optional<Drawn> next() {
    const char *model_name = one_of(models), *machine_name = one_of(machines);
    Drawn drawn{.machine = parse_machine(machine_name, shipped_catalogue()), .words = {}};
    const std::span<const Engine> all = engines();
    drawn.engine = &all[random_() % all.size()];
    constexpr Size batches[] = {1, 1, 8, 64, 300};
    drawn.batch = one_of(batches);
    if (!drawn.engine->is_compared || !runs_on(*drawn.engine, drawn.machine)) return std::nullopt;
    const auto& usual = drawn.engine->usual_precisions;
    const std::string precision(usual[random_() % usual.size()]);
    const Model& model = test::catalogue_model(model_name);
    const Scheme* asked = precision == "auto" ? nullptr : &scheme(precision);
    const Scheme& loaded = loaded_scheme(model, asked, *drawn.engine, drawn.machine);
    auto& weights = weights_[{model_name, drawn.engine, &loaded}];
    if (!weights)
      weights = std::make_unique<QuantisedModel>(loaded_weights(model, loaded, *drawn.engine));
    drawn.weights = weights.get();
    drawn.words = std::string(model_name) + ", " + std::string(loaded.name) + ", " +
                  std::string(drawn.engine->name) + ", " + machine_name + ", batch " +
                  std::to_string(drawn.batch);
    return drawn;
  }

 private:
  std::mt19937 random_{7};
  std::map<std::tuple<std::string, const Engine*, const Scheme*>, std::unique_ptr<QuantisedModel>>
      weights_;
};

Estimate on_machine(const Drawn& drawn, const Machine& machine) {
  Scenario s;
  s.weights = drawn.weights;
  s.machine = &machine;
  s.runtime = drawn.engine;
  s.batch = drawn.batch;
  s.context = 8192;
  return evaluate(s);
}

/// Sequences that run at once.
Size running(const Drawn& drawn, const Estimate& e) { return fits(e) ? drawn.batch - e.queued : 0; }

TEST(MoreIsNotWorse, OfAnythingButCards) {
  const char* asked = std::getenv("HEADROOM_DRAWS");
  const int draws = asked != nullptr ? std::atoi(asked) : test::is_sanitized ? 200 : 2000;
  Draws all;
  int compared = 0;
  for (int i = 0; i < draws; ++i) {
    const auto drawn = all.next();
    if (!drawn) continue;
    const Estimate before = on_machine(*drawn, drawn->machine);
    if (!fits(before)) continue;
    for (const Doubled& each : doubled) {
      Machine more = drawn->machine;
      each.change(more);
      const Estimate after = on_machine(*drawn, more);
      const std::string what = drawn->words + ": twice the " + each.name;
      EXPECT_TRUE(fits(after)) << what;
      EXPECT_GE(running(*drawn, after), running(*drawn, before)) << what;
      EXPECT_GE(after.tokens_s, before.tokens_s * (1 - 1e-6)) << what;
      ++compared;
    }
  }
  EXPECT_GE(compared, draws / 2);
}

}  // namespace
}  // namespace headroom::model::more_is_not_worse
