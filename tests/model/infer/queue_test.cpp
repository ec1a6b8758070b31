// Random arrivals, against a simulation of every pass of the engine.
#include "model/infer/queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "model/infer/demand.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/serving.hpp"
#include "model/infer/traffic.hpp"
#include "tests/model/infer/passes_simulation.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

class QueueOf : public testing::TestWithParam<const char*> {
 protected:
  const Model& model = test::catalogue_model("meta-llama/Meta-Llama-3-8B");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  Scenario scenario(Size prompt, Size output, Size slots = 32) const {
    Scenario s = test::scenario(weights, machine, GetParam());
    s.prompt_tokens = prompt;
    s.output_tokens = output;
    s.batch = slots;
    return s;
  }
};

double error_of(Seconds found, double simulated) { return std::abs(found.value() / simulated - 1); }

/// Relative errors of a figure over many set-ups, sorted.
struct Errors {
  std::vector<double> all;
  void add(double error) { all.push_back(error); }
  double at(double share) {
    std::ranges::sort(all);
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  }
};

struct AllErrors {
  Errors ttft_p95, tpot, tpot_p95, total, total_p99;
  void add(const InFlight& found, const test::Simulated& exact) {
    ttft_p95.add(error_of(found.ttft_p95, exact.ttft_p95));
    tpot.add(error_of(found.tpot, exact.tpot));
    tpot_p95.add(error_of(found.tpot_p95, exact.tpot_p95));
    total.add(error_of(found.total, exact.total));
    total_p99.add(error_of(found.total_p99, exact.total_p99));
  }
};

// Chat and summaries; passes of prompts as usual and shorter; all loads that plans allow.
TEST_P(QueueOf, PoissonArrivalsAreThoseOfASimulation) {
  AllErrors errors;
  for (const auto [prompt, output, chunk] :
       {std::array<Size, 3>{1000, 200}, {1000, 200, 512}, {200, 800}})
    for (const Size slots : {8, 128})
      for (const double load : {0.3, 0.5, 0.8}) {
        Scenario s = scenario(prompt, output, slots);
        s.chunk_tokens = chunk;
        Queue queue(s, slots);
        const Arrivals arrivals{.requests_s = load * queue.capacity()};
        errors.add(queue.at(arrivals), test::simulated(s, arrivals, slots));
      }
  EXPECT_LT(errors.tpot.at(1), 0.06);
  EXPECT_LT(errors.total.at(1), 0.06);
  EXPECT_LT(errors.tpot_p95.at(1), 0.16);
  EXPECT_LT(errors.total_p99.at(1), 0.20);
  EXPECT_LT(errors.ttft_p95.at(0.5), 0.15);
  EXPECT_LT(errors.ttft_p95.at(1), 0.50);
}

TEST_P(QueueOf, BurstsAndLengthsAreThoseOfASimulation) {
  AllErrors errors;
  for (const double burstiness : {0.5, 2.0})
    for (const double load : {0.4, 0.8}) {
      Scenario s = scenario(1000, 300, 64);
      s.prompt_tokens_p95 = 3000;
      s.output_tokens_p95 = 900;
      Queue queue(s, s.batch);
      const Arrivals arrivals{.requests_s = load * queue.capacity(), .burstiness = burstiness};
      errors.add(queue.at(arrivals), test::simulated(s, arrivals, s.batch));
    }
  EXPECT_LT(errors.tpot.at(1), 0.04);
  EXPECT_LT(errors.total.at(1), 0.05);
  EXPECT_LT(errors.tpot_p95.at(1), 0.12);
  EXPECT_LT(errors.total_p99.at(1), 0.12);
  EXPECT_LT(errors.ttft_p95.at(0.5), 0.30);
}

TEST_P(QueueOf, PeopleWhoThinkAreThoseOfASimulation) {
  AllErrors errors;
  for (const double users : {10.0, 60.0, 120.0}) {
    const Scenario s = scenario(1000, 300, 64);
    Queue queue(s, s.batch);
    const Arrivals arrivals{.users = users, .think = 20};
    errors.add(queue.at(arrivals), test::simulated(s, arrivals, s.batch));
  }
  EXPECT_LT(errors.tpot.at(1), 0.05);
  EXPECT_LT(errors.total.at(1), 0.03);
  EXPECT_LT(errors.tpot_p95.at(1), 0.10);
  EXPECT_LT(errors.total_p99.at(1), 0.10);
  EXPECT_LT(errors.ttft_p95.at(0.5), 0.30);
}

// People who do not pause are the steady state.
TEST_P(QueueOf, ThoseWhoDoNotPauseAreTheSteadyState) {
  for (const Size users : {1, 20, 64}) {
    const Scenario s = scenario(1000, 300, users);
    Queue queue(s, users);
    const InFlight found = queue.at({.users = static_cast<double>(users)});
    const Traffic steady = traffic(s);
    EXPECT_NEAR(found.ttft / steady.ttft, 1, 1e-6) << users;
    EXPECT_NEAR(found.tpot / steady.tpot, 1, 0.12) << users;
    EXPECT_GE(found.ttft_p95, found.ttft);
  }
}

// Little's law: requests in flight are the rate times the stay, whatever the arrivals.
TEST_P(QueueOf, FullSlotsServeWhatTheSteadyStateServes) {
  for (const Size slots : {1, 16, 200}) {
    const Scenario s = scenario(1000, 300, slots);
    const double steady = traffic(s).requests_s;
    EXPECT_NEAR(Queue(s, slots).capacity() / steady, 1, 0.12) << slots;
  }
}

TEST_P(QueueOf, MoreRequestsAreNeverFaster) {
  const Scenario s = scenario(1500, 300, 64);
  Queue queue(s, s.batch);
  InFlight before;
  for (double load = 0.02; load < 0.99; load += 0.02) {
    const InFlight now = queue.at({.requests_s = load * queue.capacity()});
    EXPECT_NEAR(now.load, load, 1e-9);
    // Groups of states make small steps.
    for (const auto time : {&InFlight::ttft, &InFlight::tpot, &InFlight::total, &InFlight::ttft_p95,
                            &InFlight::tpot_p95, &InFlight::total_p99})
      EXPECT_GT((now.*time).value(), 0.99 * (before.*time).value()) << load;
    EXPECT_GE(now.ttft_p95, now.ttft);
    before = now;
  }
  EXPECT_TRUE(std::isinf(queue.at({.requests_s = queue.capacity()}).total_p99.value()));
}

TEST_P(QueueOf, TheMostIsTheLastThatMeetsTheLimits) {
  const Scenario s = scenario(1500, 300, 64);
  Queue queue(s, s.batch);
  const InFlight half = queue.at({.requests_s = 0.5 * queue.capacity()});
  LateLimits limits;
  limits.tpot_p95 = half.tpot_p95.value() * 1.001;
  const double cap = 0.8 * queue.capacity();
  const double most = queue.most_requests(limits, cap, 1);
  EXPECT_NEAR(most, 0.5 * queue.capacity(), 0.04 * most);  // groups of states make steps
  EXPECT_TRUE(queue.meets(limits, {.requests_s = 0.999 * most}));
  EXPECT_FALSE(queue.meets(limits, {.requests_s = 1.03 * most}));
  EXPECT_DOUBLE_EQ(queue.most_requests({}, cap, 1), cap);
  limits.tpot_p95 = 1e-6;
  EXPECT_EQ(queue.most_requests(limits, cap, 1), 0);

  limits.tpot_p95 = half.tpot_p95.value();
  const Size users = queue.most_users(limits, cap, 10, 100'000);
  const auto people = [](Size n) { return Arrivals{.users = static_cast<double>(n), .think = 10}; };
  EXPECT_TRUE(queue.meets(limits, people(users)));
  EXPECT_FALSE(queue.meets(limits, people(users + 1)));
  const Size all = queue.most_users({}, cap, 10, 100'000);
  EXPECT_LE(queue.at(people(all)).requests_s, cap);
  EXPECT_GT(queue.at(people(all + 1)).requests_s, cap);
}

// One question, one answer: a point of a sweep and a plan.
TEST_P(QueueOf, PointsSustainWhatPlansGive) {
  for (const double burstiness : {1.0, 0.25}) {
    Scenario s = scenario(800, 200);
    Target target;
    target.requests_s = 0.1;
    target.late = {.ttft_p95 = 1.5, .tpot_p95 = 0.04, .total_p99 = 12};
    target.burstiness = burstiness;
    target.load_factor = 0.7;
    const Serving plan = serve(s, target, Vary::batch);
    ASSERT_EQ(plan.replicas, 1);
    s.batch = s.concurrency = plan.batch;
    s.max_ttft_p95 = 1'500'000;
    s.max_tpot_p95 = 40'000;
    s.max_total_p99 = 12'000'000;
    s.burstiness = std::llround(1000 * burstiness);
    s.load_factor = 700;
    const Served served = evaluate(s).served;
    EXPECT_NEAR(served.sustained_s, plan.requests_s_each, 1e-9 * plan.requests_s_each);
    EXPECT_LT(served.sustained_s, 0.7 * served.requests_s + 1e-9);
  }
}

// Means have intervals of their own, so a strict target must not lengthen them too.
TEST_P(QueueOf, StrictTargetsLengthenTheSlowestAlone) {
  const Scenario s = scenario(800, 200);
  for (const double think : {0.0, 30.0}) {
    Target target;
    target.late.ttft_p95 = 4;
    target.think = think;
    target.requests_s = think > 0 ? 0 : 1.5;
    target.users = think > 0 ? 60 : 0;
    const Serving serving = serve(s, target, Vary::batch);
    ASSERT_EQ(serving.replicas, 1);
    Target strict = target;
    strict.strict = true;
    const AtDemand usual = at_demand(s, serving, target, 1),
                   high = at_demand(s, serving, strict, 1);
    EXPECT_EQ(high.service.ttft, usual.service.ttft);
    EXPECT_EQ(high.service.tpot, usual.service.tpot);
    EXPECT_EQ(high.requests_s, usual.requests_s);
    EXPECT_GT(high.slowest->ttft_p95, usual.slowest->ttft_p95);
    EXPECT_GT(high.slowest->ttft_p95, usual.service.first.high * usual.service.ttft);
  }
}

TEST_P(QueueOf, PlansKeepLimitsAtTheirDemand) {
  int held = 0, bound = 0;
  for (const auto& [gib, prompt, output] :
       {std::tuple{80, 1500, 300}, {20, 512, 128}, {24, 4000, 100}}) {
    const Machine own = test::machine(1, gib, 256);
    Scenario s = scenario(prompt, output, 1);
    s.machine = &own;
    const Service alone = service_of(s, evaluate(s));
    for (const double think : {0.0, 20.0})
      for (const bool strict : {false, true})
        for (const double slower : {1.2, 2.0, 8.0}) {
          Target target;
          target.strict = strict;
          target.ttft = slower * alone.ttft;
          target.tpot = 2 * slower * alone.tpot;
          target.think = think;
          target.users = think > 0 ? 40 : 0;
          target.requests_s = think > 0 ? 0 : 3;
          const Serving serving = serve(s, target, Vary::batch);
          const Size machines = machines_needed(serving, s, target);
          if (machines == 0) continue;
          const AtDemand at = at_demand(s, serving, target, machines * serving.replicas);
          EXPECT_LE(at.service.ttft.value(), 1.001 * target.ttft->value()) << gib << slower;
          EXPECT_LE(at.service.tpot.value(), 1.001 * target.tpot->value()) << gib << slower;
          EXPECT_LE(at.slowest->load, 1.001 * target.load_factor) << gib << slower;
          ++held;
          bound += serving.next.miss == Miss::ttft || serving.next.miss == Miss::tpot;
        }
  }
  EXPECT_GT(held, 15);
  EXPECT_GT(bound, 3);
}

// A tighter limit on the first token never makes it later.
TEST_P(QueueOf, ATighterLimitIsNeverSlower) {
  const Machine own = test::machine(1, 20, 256);
  Scenario s = scenario(512, 128, 1);
  s.machine = &own;
  Target target;
  target.requests_s = 2;
  const Serving usual = serve(s, target, Vary::batch);
  const Size machines = machines_needed(usual, s, target);
  const Seconds ttft = at_demand(s, usual, target, machines).service.ttft;
  target.ttft = 1.01 * ttft;
  const Serving limited = serve(s, target, Vary::batch);
  EXPECT_EQ(machines_needed(limited, s, target), machines);
  EXPECT_LE(at_demand(s, limited, target, machines).service.ttft.value(), 1.001 * ttft.value());
}

TEST_P(QueueOf, BurstsWaitLonger) {
  const Scenario s = scenario(1500, 300, 64);
  Queue queue(s, s.batch);
  const double rate = 0.6 * queue.capacity();
  Seconds before(0);
  for (const double burstiness : {4.0, 1.0, 0.5, 0.25}) {
    const Seconds now = queue.at({.requests_s = rate, .burstiness = burstiness}).ttft_p95;
    EXPECT_GT(now, before) << burstiness;
    before = now;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, QueueOf, testing::Values("vllm", "llama.cpp"));

}  // namespace
}  // namespace headroom::model
