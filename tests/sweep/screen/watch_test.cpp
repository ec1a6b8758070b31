// Figures to watch: they are the ones that the tools show.
#include "sweep/screen/watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/machine.hpp"
#include "model/answer/explain.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

using model::Scenario;

/// The line that contains `words`, or an empty string.
std::string line_with(const Scenario& s, const std::string& words) {
  for (const auto& line : watch_lines(s, explain(s)))
    if (line.find(words) != std::string::npos) return line;
  return {};
}

/// The number after `words`, in GiB.
double gib_after(const std::string& line, const std::string& words) {
  const auto at = line.rfind(words);
  if (at == std::string::npos) return -1;
  return std::stod(line.substr(at + words.size()));
}

TEST(Watch, TensorsOnCardsExcludeOtherDevices) {
  const model::Model& model = test::catalogue_model("facebook/opt-30b");
  const model::QuantisedModel weights = quantise(model, model::scheme("fp16"));
  Machine machine = parse_machine("rtx-4090 @ desktop-ddr5-128gb", shipped_catalogue());
  set_memory(machine.devices[0], Bytes(Size{8} << 30));
  const Scenario s = test::scenario(weights, machine, "transformers");
  ASSERT_GT(explain(s).estimate.cpu_bytes, Bytes(0));
  const double shown = gib_after(line_with(s, "torch.cuda.max_memory_allocated"), "at most ");
  EXPECT_GT(shown, 1);
  EXPECT_LT(shown, 8);
}

TEST(Watch, CardsOfUnknownMakersHaveTensorsToo) {
  const model::Model& model = test::catalogue_model("Qwen/Qwen3-0.6B");
  const model::QuantisedModel weights = quantise(model, model::scheme("bf16"));
  const Machine machine = test::machine(1, 8, 64);
  EXPECT_NE(line_with(test::scenario(weights, machine, "transformers"), "max_memory_allocated"),
            "");
}

TEST(Watch, AnEngineThatSetsMemoryAsideIsWatchedInItsLog) {
  const model::Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const model::QuantisedModel weights = quantise(model, model::scheme("bf16"));
  const Machine machine = parse_machine("l40s", shipped_catalogue());
  for (const auto& [engine, share, log] : {std::tuple{"vllm", 0.92, "GPU KV cache size"},
                                           {"tensorrt-llm", 0.9, "max tokens in paged KV cache"}}) {
    const Scenario s = test::scenario(weights, machine, engine);
    // nvidia-smi shows that share of the card.
    const double card = share * usable_memory(machine.devices[0]).real().value() / (1 << 30);
    EXPECT_NEAR(gib_after(line_with(s, "nvidia-smi"), "shows the "), card, 0.01) << engine;
    EXPECT_NE(line_with(s, log), "") << engine;
    // Weights are 14.96 GiB. The driver and activations take some memory too.
    EXPECT_LT(gib_after(line_with(s, log), "tokens in "), card - 14.96) << engine;
    EXPECT_GT(gib_after(line_with(s, log), "tokens in "), card - 20) << engine;
  }
  const Scenario s = test::scenario(weights, machine, "transformers");
  EXPECT_EQ(line_with(s, "reserves on a card"), "");
}

/// SGLang leaves 512 + 1.5 * 4096 + 128 + 2 * 32 + 8 * 50 MiB of 46068 to activations and graphs,
/// of which graphs and those of one prompt are taken.
TEST(Watch, AShareOfWeightsAndCachesIsNotAllThatIsTaken) {
  const model::Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const model::QuantisedModel weights = quantise(model, model::scheme("bf16"));
  Machine machine = parse_machine("l40s", shipped_catalogue());
  set_memory(machine.devices[0], Bytes(Size{46068} << 20));
  const Scenario s = test::scenario(weights, machine, "sglang");
  const double context = s.runtime->memory.context_bytes.value / (1 << 30);
  const double pool = 0.843 * (46068.0 / 1024 - context);
  const double graphs = s.runtime->memory.graph_bytes.value / (1 << 30);
  EXPECT_GT(graphs, 1);
  EXPECT_GT(gib_after(line_with(s, "nvidia-smi"), "shows the "), pool + context + graphs);
  EXPECT_LT(gib_after(line_with(s, "nvidia-smi"), "shows the "), pool + context + graphs + 0.5);
  // Weights are 14.96 GiB.
  EXPECT_NEAR(gib_after(line_with(s, "max_total_num_tokens"), "tokens in "), pool - 14.96, 0.02);
}

TEST(Watch, SharedMemoryIsTheProcess) {
  const model::Model& model = test::catalogue_model("Qwen/Qwen3-0.6B");
  const model::QuantisedModel weights = quantise(model, model::scheme("bf16"));
  const Machine machine = parse_machine("m2-max-64gb", shipped_catalogue());
  const Scenario s = test::scenario(weights, machine, "transformers");
  EXPECT_NE(line_with(s, "footprint -p PID"), "");
  EXPECT_NE(line_with(s, "torch.mps.current_allocated_memory()"), "");
  EXPECT_EQ(line_with(s, "torch.cuda"), "");
  EXPECT_EQ(line_with(s, "ps -o rss="), "");
}

}  // namespace
}  // namespace headroom::sweep
