// Every constant of an engine has an effect. Setting it changes an estimate somewhere.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/engine/measured_constants.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/traffic.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// All figures that a user sees, including interval factors.
std::vector<double> figures(const Scenario& s) {
  const Estimate e = evaluate(s);
  std::vector<double> all{static_cast<double>(e.verdict),
                          static_cast<double>(e.sure),
                          e.gpu_bytes.real().value(),
                          e.gpu_bytes_low.real().value(),
                          e.activations.real().value(),
                          e.overhead.real().value(),
                          e.cpu_bytes.real().value(),
                          e.load.value(),
                          e.ttft.value(),
                          e.tpot.value()};
  if (e.verdict >= Verdict::does_not_fit) return all;
  const Engine& r = *s.runtime;
  const TimeIntervals times = interval_factors(s).times(e);
  all.insert(all.end(), {e.load.value() * times.load.high, e.ttft.value() * times.ttft.high,
                         e.tpot.value() * times.tpot.high});
  if (!r.serving.continuous_batching || e.gpus_used == 0) return all;
  const Traffic t = traffic(s);
  all.insert(all.end(), {t.ttft.value() * r.serving.first_token_interval.high,
                         t.tpot.value() * r.serving.serving_interval.high,
                         t.output_tokens_s / r.serving.throughput_interval.high});
  return all;
}

class Constants : public testing::TestWithParam<NamedConstant> {
 protected:
  /// Sets only the value, without an interval, as --set does.
  static Engine with(const Engine& engine, const NamedConstant& which, double factor) {
    Engine changed = engine;
    const auto set = [&](Constant& c) {
      const double value = c.value > 0 ? factor * c.value : 0.01 * factor;
      c = {value, value, value, 0, "--set"};
    };
    if (which.of_engine) {
      set(which.in(changed));
      return changed;
    }
    for (auto& by_width : changed.kernels.efficiency)
      for (KernelEfficiency& rates : by_width) set(rates.*which.of_efficiency);
    return changed;
  }
};

TEST_P(Constants, EachChangesAFigureSomewhere) {
  const QuantisedModel dense =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3-8B"), scheme("bf16"));
  const QuantisedModel packed =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3-8B"), scheme("awq"));
  const QuantisedModel blocks =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3-8B"), scheme("q4_K_M"));
  const QuantisedModel experts =
      quantise(test::catalogue_model("Qwen/Qwen3-30B-A3B"), scheme("bf16"));
  Machine large = test::machine(4, 80, 256);
  for (Device& device : large.devices) {  // multiply bytes and 16 bit in matrix units
    device.vendor = "nvidia";
    device.compute_capability = ComputeCapability{8, 9};
    device.multiprocessors = 128;  // as an RTX 4090
  }
  const Machine several = test::machine(4, 12, 256);
  const Machine small = test::machine(1, 12, 256), poor = test::machine(1, 12, 16);
  Machine sockets = small;  // layers on a host of two sockets
  sockets.host.sockets = 2;
  Machine cores = small;  // with more cores than threads
  cores.host.cores = 8;
  Machine without_links = several;  // cards meet over the host's bus
  for (Device& device : without_links.devices) device.link = BytesPerSecond(0);
  Machine boxes = large;  // with two cards each
  boxes.host.cards = 2;
  boxes.host.network = BytesPerSecond(25e9);
  const Machine close = test::machine(4, 80, 256);  // 0.99 of each leaves little beside it
  Machine unified = test::machine(1, 80, 80);
  unified.devices.front().unified_memory = true;
  for (const Engine& engine : engines())
    for (const QuantisedModel* weights : {&dense, &packed, &blocks, &experts})
      for (const Machine* machine :
           std::initializer_list<const Machine*>{&large, &boxes, &several, &without_links, &small,
                                                 &sockets, &cores, &poor, &unified, &close})
        for (const auto& [batch, prompt] :
             {std::pair<Size, Size>{4, 2000}, std::pair<Size, Size>{1, 9000}}) {
          Scenario s = test::scenario(*weights, *machine, engine.name);
          s.batch = batch;
          s.prompt_tokens = prompt;
          s.threads = 2;
          if (machine == &close) s.gpu_share = 0.99;
          const std::vector<double> before = figures(s);
          // A lower bound shows an effect only when it grows.
          for (const double factor : {0.7, 1.5}) {
            const Engine changed = with(engine, GetParam(), factor);
            s.runtime = &changed;
            if (figures(s) != before) return;
          }
        }
  ADD_FAILURE() << GetParam().name << " changes nothing";
}

INSTANTIATE_TEST_SUITE_P(, Constants, testing::ValuesIn(named_constants()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace headroom::model
