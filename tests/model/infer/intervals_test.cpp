// Times without a measurement are marked as such and have a wider interval.
#include "model/infer/intervals.hpp"

#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// An engine like vllm with one measured cell, on a card of that cell's class.
struct Measured {
  Machine box = parse_machine("h100-sxm-80gb", shipped_catalogue());
  const QuantisedModel w =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("bf16"));
  Engine row = engine("vllm");
  KernelEfficiency& cell = row.kernels.efficiency[static_cast<std::size_t>(CardClass::hopper)]
                                                 [static_cast<std::size_t>(Width::sixteen)];
  Measured() {
    cell.prefill_compute.measurements = cell.decode_bandwidth.measurements = 40;
    row.kernels.prefill_interval = {1, 0.9, 1.1, 40, "made up"};
    row.kernels.decode_interval = {1, 0.95, 2.2, 40, "made up"};
    row.serving.first_token_interval = row.serving.serving_interval =
        row.serving.throughput_interval = row.kernels.prefill_interval;
  }
  Estimate estimate() const {
    Scenario s = test::scenario(w, box, "vllm");
    s.runtime = &row;
    return evaluate(s);
  }
};

TEST(Intervals, UseTheEnginesOwnMeasurements) {
  const Measured m;
  const Estimate e = m.estimate();
  ASSERT_EQ(e.verdict, Verdict::fits_one_gpu);
  const TimeIntervals times = interval_factors(m.row).times(e);
  EXPECT_EQ(times.ttft.high, 1.1);
  EXPECT_EQ(times.ttft.measurements, 40);
  EXPECT_EQ(times.tpot.low, 0.95);
  EXPECT_EQ(interval_factors(m.row).serving(e).rate.measurements, 40);
}

/// Times that depend on host memory have a narrower interval if the memory's speed is known.
TEST(Intervals, OffloadFollowsHostMemory) {
  const QuantisedModel w =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("bf16"));
  Engine row = engine("llama.cpp");
  row.offload.interval = {1, 0.5, 2.0, 70, "made up"};
  row.offload.ram_stated_interval = {1, 0.8, 1.2, 20, "made up"};
  const auto factors = [&](const char* cards) {
    const Machine box = parse_machine(cards, shipped_catalogue());
    Scenario s = test::scenario(w, box, "llama.cpp");
    s.runtime = &row;
    return interval_factors(s).offload;
  };
  EXPECT_EQ(factors("rtx-4090").high, 2.0);
  EXPECT_EQ(factors("rtx-4090 @ epyc-rome-512gb").high, 1.2);
  EXPECT_EQ(factors("rtx-4090 @ epyc-rome-512gb").measurements, 20);
  row.offload.ram_stated_interval.value = 0;  // nothing was measured there
  EXPECT_EQ(factors("rtx-4090 @ epyc-rome-512gb").high, 2.0);
}

TEST(Intervals, UnmeasuredCardsUseTheDefaultInterval) {
  Measured m;
  m.cell.decode_bandwidth.measurements = 0;
  const Estimate e = m.estimate();
  const TimeIntervals times = interval_factors(m.row).times(e);
  EXPECT_EQ(times.ttft.measurements, 40);
  EXPECT_EQ(times.tpot.low, e.step_least / max_low_share);  // 0.5 would beat the data sheet
  EXPECT_EQ(times.tpot.high, 2.2);  // never narrower than in the measured case
  EXPECT_EQ(times.tpot.measurements, 0);
  const ServingIntervals serving = interval_factors(m.row).serving(e);
  EXPECT_EQ(serving.ttft.high, unmeasured_first.high);  // TTFT ends with a step
  EXPECT_EQ(serving.rate.low, unmeasured_first.low);
  EXPECT_EQ(serving.tpot.measurements, 0);

  m.cell.decode_bandwidth.measurements = 40;
  m.cell.prefill_compute.measurements = 0;
  const TimeIntervals first = interval_factors(m.row).times(m.estimate());
  EXPECT_EQ(first.ttft.low, std::max(unmeasured_first.low, e.first_least / max_low_share));
  EXPECT_EQ(first.ttft.measurements, 0);
  EXPECT_EQ(first.tpot.measurements, 40);
}

/// One concurrent request is a batch of one, so it has the same intervals. Two have those of load.
TEST(Intervals, OfOneRequestUnderLoadAreThoseOfOneAlone) {
  const Measured m;
  const IntervalFactors factors = interval_factors(m.row);
  const auto under_load = [&](Size requests) {
    Scenario s = test::scenario(m.w, m.box, "vllm");
    s.runtime = &m.row;
    s.batch = s.concurrency = requests;
    const Estimate e = evaluate(s);
    EXPECT_EQ(e.served.running, requests);
    return factors.serving(e);
  };
  const ServingIntervals one = under_load(1), two = under_load(2);
  EXPECT_EQ(one.tpot.low, 0.95);  // under load it is 0.9
  EXPECT_EQ(one.tpot.high, 2.2);
  EXPECT_GT(one.rate.high, 2.1);  // an answer has the first token too, with 1.1
  EXPECT_LT(one.rate.high, 2.2);
  EXPECT_EQ(one.ttft.high, 1.1);
  EXPECT_EQ(one.tpot.measurements, 40);
  EXPECT_EQ(two.tpot.high, 1.1);
  EXPECT_EQ(two.rate.high, 1.1);
}

/// An unused card has no effect on intervals. A second card next to the measured one has.
TEST(Intervals, LookAtTheCardsInUse) {
  Measured m;
  m.box.devices.push_back(parse_machine("rtx-4090", shipped_catalogue()).devices.front());
  auto& other = m.row.kernels.efficiency[static_cast<std::size_t>(CardClass::ada)]
                                        [static_cast<std::size_t>(Width::sixteen)];
  other.decode_bandwidth.measurements = 0;
  Scenario s = test::scenario(m.w, m.box, "vllm");
  s.runtime = &m.row;
  s.tensor_parallel = 1;
  EXPECT_FALSE(evaluate(s).step_unmeasured);
  s.tensor_parallel = 2;
  EXPECT_TRUE(evaluate(s).step_unmeasured);
}

/// The low end is at least the time that the card's memory takes for the bytes read.
TEST(Intervals, AreNeverFasterThanTheDataSheet) {
  Measured m;
  m.cell.decode_bandwidth.measurements = m.cell.prefill_compute.measurements = 0;
  for (const Size batch : {1, 32}) {
    Scenario s = test::scenario(m.w, m.box, "vllm");
    s.runtime = &m.row;
    s.batch = batch;
    const Estimate e = evaluate(s);
    const TimeIntervals times = interval_factors(m.row).times(e);
    const Device& card = m.box.devices.front();
    const double weights = m.w.total.real().value() - 2.0 * 128256 * 4096;  // rows are looked up
    const double read = weights / card.bandwidth.value();
    const double low = times.tpot.low * e.tpot.value();
    constexpr double rounding = 1.0 / 127;  // Estimate::first_least
    EXPECT_GE(low, read - rounding * e.tpot.value()) << batch;
    EXPECT_LE(low, e.tpot.value());
    const double tokens = static_cast<double>(batch * s.prompt_tokens);
    const double products = 2.0 * 6.97e9 * tokens / card.peak(Arithmetic::bf16).value();
    EXPECT_GE(times.ttft.low * e.ttft.value(), std::max(read, products) - rounding * e.ttft.value())
        << batch;
  }
}

/// Weights outside the cards wait for links. The engine gives the interval of links.
TEST(Intervals, OfOffloadAreTheEnginesOwn) {
  const QuantisedModel w =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("bf16"));
  const Machine box = parse_machine("rtx-4090", shipped_catalogue());
  Scenario s = test::scenario(w, box, "transformers");
  s.gpu_budget = Bytes(Size{8} << 30);
  const Estimate e = evaluate(s);
  ASSERT_EQ(e.verdict, Verdict::fits_cpu_offload);
  const IntervalFactors f = interval_factors(*s.runtime);
  EXPECT_EQ(f.times(e).tpot.high, f.offload.high);
}

/// An engine whose memory nobody measured has the widest interval of all. It is sure where even
/// that leaves room: 12.6 GiB of weights on 80 GB, but not on 16 GB.
TEST(Intervals, OfUnmeasuredMemoryDecideWhatIsSure) {
  const QuantisedModel w =
      quantise(test::catalogue_model("meta-llama/Llama-2-7b-hf"), scheme("bf16"));
  const Machine large = parse_machine("a100-sxm-80gb", shipped_catalogue());
  const Machine small = parse_machine("rtx-4080", shipped_catalogue());
  for (const char* unmeasured : {"calm", "gpt-fast", "tensorrt-llm"}) {
    ASSERT_EQ(engine(unmeasured).memory.interval.measurements, 0) << unmeasured;
    const Estimate on_large = evaluate(test::scenario(w, large, unmeasured));
    EXPECT_EQ(on_large.verdict, Verdict::fits_one_gpu) << unmeasured;
    EXPECT_EQ(on_large.sure, Confidence::yes) << unmeasured;
    const Estimate on_small = evaluate(test::scenario(w, small, unmeasured));
    EXPECT_EQ(on_small.sure, Confidence::marginal) << unmeasured;
  }
}

}  // namespace
}  // namespace headroom::model
