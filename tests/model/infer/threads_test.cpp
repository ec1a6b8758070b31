// Concurrent calls of evaluate() give the results of one thread, also for first calls. The thread
// sanitizer runs this test too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hardware/embedded.hpp"
#include "model/checkpoint/model.hpp"
#include "model/describe/config.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

Model built_model(std::string_view name) {
  for (const EmbeddedFile& file : embedded_models())
    if (file.name == name)
      return make_model(std::string(name), parse_config(file.bytes, std::string(name)), "test");
  throw std::runtime_error("not in the catalogue: " + std::string(name));
}

Machine two_cards() {
  Device card;
  card.name = "card";
  set_memory(card, Bytes(40'000'000'000));
  card.bandwidth = BytesPerSecond(1.5e12);
  card.bf16 = FlopsPerSecond(300e12);
  card.fp32 = FlopsPerSecond(20e12);
  card.host_bus = BytesPerSecond(30e9);
  Machine machine;
  machine.name = "2x card @ box";
  machine.devices = {card, card};
  machine.host.ram = Bytes(100'000'000'000);
  machine.host.ram_bandwidth = BytesPerSecond(200e9);
  machine.host.cpu_peak = FlopsPerSecond(2e12);
  machine.host.disk = Bytes(1'000'000'000'000);
  machine.host.disk_read = BytesPerSecond(3e9);
  return machine;
}

/// Compares the values in which two estimates would differ.
bool same(const Estimate& a, const Estimate& b) {
  return a.verdict == b.verdict && a.reason == b.reason && a.sure == b.sure &&
         a.gpu_bytes == b.gpu_bytes && a.cpu_bytes == b.cpu_bytes && a.disk_bytes == b.disk_bytes &&
         a.weights == b.weights && a.kv_cache == b.kv_cache && a.layers_gpu == b.layers_gpu &&
         a.load == b.load && a.ttft == b.ttft && a.tpot == b.tpot && a.tokens_s == b.tokens_s;
}

class Threads : public testing::Test {
 protected:
  /// Points over engines, batches and budgets, on models with different formulas.
  std::vector<Scenario> scenarios() const {
    std::vector<Scenario> all;
    for (const QuantisedModel& weights : weights_)
      for (const Engine& engine : engines())
        for (const Size batch : {1, 7, 64})
          for (const Size budget : {0, 6, 20, 40}) {
            Scenario point;
            point.weights = &weights;
            point.machine = &machine_;
            point.runtime = &engine;
            point.kv_precision = &precision("fp16");
            point.batch = batch;
            point.gpu_budget = Bytes(budget * 1'000'000'000);
            all.push_back(point);
          }
    return all;
  }

  const Machine machine_ = two_cards();
  const Model dense_ = built_model("Qwen__Qwen3-32B.json");
  const Model latent_ = built_model("deepseek-ai__DeepSeek-V2-Lite.json");
  const std::vector<QuantisedModel> weights_{quantise(dense_, scheme("bf16")),
                                             quantise(latent_, scheme("nf4"))};
};

TEST_F(Threads, EvaluateGivesWhatOneThreadGives) {
  constexpr int threads = 4, rounds = 20;
  const auto points = scenarios();
  std::vector<std::vector<Estimate>> results(threads);
  std::atomic<int> different = 0;
  {
    std::latch start(threads);
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t)
      pool.emplace_back([&, t] {
        auto& mine = results[static_cast<std::size_t>(t)];
        start.arrive_and_wait();
        for (const Scenario& point : points) mine.push_back(evaluate(point));
        for (int round = 1; round < rounds; ++round)
          for (std::size_t i = 0; i < points.size(); ++i)
            if (!same(evaluate(points[i]), mine[i])) ++different;
      });
  }
  EXPECT_EQ(different, 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Estimate alone = evaluate(points[i]);
    for (const auto& theirs : results) EXPECT_TRUE(same(alone, theirs[i])) << "point " << i;
  }
}

TEST_F(Threads, TheScenariosDiffer) {
  std::vector<Verdict> verdicts;
  for (const Scenario& point : scenarios()) verdicts.push_back(evaluate(point).verdict);
  std::sort(verdicts.begin(), verdicts.end());
  verdicts.erase(std::unique(verdicts.begin(), verdicts.end()), verdicts.end());
  EXPECT_GE(verdicts.size(), 4U);
}

TEST_F(Threads, TablesAndModelsAreBuiltOnceFromManyThreads) {
  std::atomic<Size> parameters = 0;
  std::latch start(4);
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < 4; ++t)
      pool.emplace_back([&] {
        start.arrive_and_wait();
        const Model model = built_model("microsoft__phi-2.json");
        for (const Scheme& each : schemes()) (void)scheme(each.name);
        for (const Engine& each : engines()) (void)engine(each.name);
        parameters += quantise(model, scheme("int8")).model->profile.parameters;
      });
  }
  EXPECT_EQ(parameters, 4 * 2'779'683'840);
}

}  // namespace
}  // namespace headroom::model
