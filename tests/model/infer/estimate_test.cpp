// Invariants of an estimate over seeded random scenarios, and a few results by hand.
#include "model/infer/estimate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::machine;
using test::scenario;

constexpr const char* models[] = {"meta-llama/Llama-3.3-70B-Instruct", "openai/gpt-oss-20b",
                                  "mistralai/Mixtral-8x7B-v0.1",       "google/gemma-2-9b",
                                  "deepseek-ai/DeepSeek-V2-Lite",      "Qwen/Qwen3-0.6B",
                                  "state-spaces/mamba-2.8b-hf"};
constexpr const char* precisions[] = {"fp32", "bf16", "int8", "nf4"};
constexpr const char* runtime_names[] = {"transformers", "llama.cpp", "vllm"};

/// One random scenario, with the objects that it points to.
struct Drawn {
  QuantisedModel weights;
  Machine box;
  Scenario s;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Size between(Size low, Size high) {
    return std::uniform_int_distribution<Size>(low, high)(engine_);
  }
  Drawn draw() {
    const auto m = static_cast<std::size_t>(between(0, std::ssize(models) - 1));
    const auto p = static_cast<std::size_t>(between(0, std::ssize(precisions) - 1));
    Drawn d{
        held(m, p), machine(between(0, 8), between(4, 80), between(8, 512), between(10, 1000)), {}};
    d.s = scenario(d.weights, d.box, runtime_names[static_cast<std::size_t>(between(0, 2))]);
    d.s.batch = between(1, 64);
    d.s.prompt_tokens = between(1, 4096);
    d.s.output_tokens = between(1, 512);
    return d;
  }

 private:
  static const QuantisedModel& held(std::size_t m, std::size_t p) {
    static std::map<std::pair<std::size_t, std::size_t>, QuantisedModel> cache;
    auto it = cache.find({m, p});
    if (it == cache.end())
      it =
          cache
              .emplace(std::pair{m, p}, quantise(catalogue_model(models[m]), scheme(precisions[p])))
              .first;
    return it->second;
  }
  std::mt19937 engine_;
};

/// `d.s` with pointers to the members of `d`. Its own pointers may be stale, because a Drawn may
/// have moved.
Scenario at_home(const Drawn& d) {
  Scenario s = d.s;
  s.weights = &d.weights;
  s.machine = &d.box;
  return s;
}

TEST(Estimate, PartsOfAPlacementSumToTheWhole) {
  Random random(1);
  for (int i = 0; i < 3000; ++i) {
    const Drawn d = random.draw();
    const Scenario s = at_home(d);
    const Plan plan = place(s, 1.0);
    if (!plan.feasible() || s.runtime->parallel.split == Split::tensors) continue;
    const auto layers = std::ssize(d.weights.layer);
    ASSERT_EQ(plan.on_cards.size() + plan.on_cpu.size() + plan.on_disk.size(), layers);
    Bytes sum = host_use(s, plan).weights + disk_use(s, plan);
    for (Size card = 0; card < plan.cards; ++card) sum += card_use(s, plan, card).weights;
    // The plan contains a streaming buffer and a copied tied head in addition to the model's bytes.
    const Bytes copies = sum - plan.streaming_buffer - d.weights.total;
    ASSERT_TRUE(copies == Bytes(0) ||
                (d.weights.model->profile.tied_head && plan.embedding != plan.head))
        << d.weights.model->name << ' ' << s.runtime->name << ' ' << copies.count();
  }
}

TEST(Estimate, CardsStayWithinTheirBudget) {
  Random random(2);
  for (int i = 0; i < 3000; ++i) {
    const Drawn d = random.draw();
    const Scenario s = at_home(d);
    const Plan plan = place(s, 1.0);
    if (!plan.feasible()) continue;
    for (Size card = 0; card < plan.cards; ++card)
      ASSERT_LE(card_use(s, plan, card).total().count(),
                card_budget(s, static_cast<std::size_t>(card)).count() + 16)
          << d.weights.model->name << ' ' << s.runtime->name << " card " << card;
    if (plan.on_cpu.size() > 0 || plan.cards == 0) {
      ASSERT_LE(host_use(s, plan).total(), s.machine->host.ram);
    }
  }
}

TEST(Estimate, FitsNeverTurnsFalseWhenMemoryGrows) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    Drawn d = random.draw();
    if (!fits(evaluate(at_home(d)))) continue;
    for (Device& device : d.box.devices)
      set_memory(device, usable_memory(device) + Bytes(Size{7} << 30));
    d.box.host.ram += Bytes(Size{9} << 30);
    ASSERT_TRUE(fits(evaluate(at_home(d)))) << d.weights.model->name << ' ' << d.s.runtime->name;
  }
}

TEST(Estimate, MoreBatchOrContextNeverTakesLessMemory) {
  Random random(4);
  for (int i = 0; i < 2000; ++i) {
    const Drawn d = random.draw();
    Scenario s = at_home(d);
    const bool fitted = fits(evaluate(s));
    // An engine that is asked for fewer sequences takes less memory.
    s.may_ask_for_fewer = false;
    const Estimate before = evaluate(s);
    const auto head_cards = [&] {
      const Plan plan = place(s, 1.0);
      std::vector<bool> has;
      for (Size card = 0; plan.feasible() && card < plan.cards; ++card)
        has.push_back(plan.has_head(card) && plan.layers_of(card).size() > 0);
      return std::pair(plan.head, has);
    };
    const auto head = head_cards();
    for (int more = 0; more < 2; ++more) {
      s = at_home(d);
      (more == 0 ? s.batch : s.prompt_tokens) += more == 0 ? 3 : 300;
      const bool fits_after = fits(evaluate(s));
      s.may_ask_for_fewer = false;
      const Estimate after = evaluate(s);
      // The device with the head computes the logits.
      if (fits(after) && fits(before) && head_cards() != head) continue;
      if (fits_after) {
        ASSERT_TRUE(fitted);
      }
      if (fits(after)) {
        ASSERT_TRUE(fits(before));
      }
      if (!fits(after) || !fits(before) || after.gpus_used != before.gpus_used ||
          after.layers_gpu != before.layers_gpu)
        continue;
      ASSERT_GE(after.queued, before.queued);
      if (after.queued > 0) continue;  // the bytes cover only the sequences that run
      ASSERT_GE(after.kv_cache, before.kv_cache);
      // Activations can peak while caches are smaller, so the test compares the sums.
      ASSERT_GE(after.kv_cache + after.activations, before.kv_cache + before.activations)
          << d.weights.model->name << ' ' << d.s.runtime->name << ", " << after.gpus_used
          << " cards, batch " << s.batch << ", prompt " << s.prompt_tokens;
    }
  }
}

TEST(Estimate, NoStepIsFasterThanTheRooflineOfItsWeights) {
  Random random(5);
  for (int i = 0; i < 3000; ++i) {
    const Drawn d = random.draw();
    const Scenario s = at_home(d);
    const Estimate e = evaluate(s);
    if (!fits(e) || e.gpus_used == 0 || e.tokens_s == 0) continue;
    const Profile& p = d.weights.model->profile;
    // Each token multiplies every active parameter once, at best at the peak of all cards.
    const double flops = 2.0 * static_cast<double>(p.parameters_active - p.embedding_parameters);
    const double seconds = flops * static_cast<double>(s.batch) /
                           (300e12 * static_cast<double>(d.box.devices.size()) + 2e12);
    ASSERT_GE(e.tpot.value(), seconds);
    ASSERT_GE(e.total.value(), e.ttft.value());
  }
}

TEST(Estimate, IntervalHoldsTheExpectedValueAndDecidesWhatIsSure) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const Drawn d = random.draw();
    const Estimate e = evaluate(at_home(d));
    ASSERT_LE(e.gpu_bytes_low, e.gpu_bytes);
    ASSERT_GE(e.gpu_bytes_high, e.gpu_bytes);
    if (e.sure == Confidence::yes) {
      ASSERT_TRUE(fits(e));
    }
    if (e.sure == Confidence::no) {
      ASSERT_FALSE(fits(e));
    }
  }
}

TEST(Estimate, IsPureAndSharesNoState) {
  Random random(7);
  for (int i = 0; i < 500; ++i) {
    const Drawn d = random.draw();
    const Estimate a = evaluate(at_home(d)), b = evaluate(at_home(d));
    ASSERT_EQ(a.verdict, b.verdict);
    ASSERT_EQ(a.gpu_bytes, b.gpu_bytes);
    ASSERT_EQ(a.tpot.value(), b.tpot.value());
  }
}

TEST(Estimate, KvCacheByHand) {
  // Llama-3.3-70B has 80 layers and 8 KV heads of 128. K and V in 2 bytes take 327,680 bytes per
  // token.
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Llama-3.3-70B-Instruct"), scheme("bf16"));
  const Machine m = machine(4, 80, 256);
  Scenario s = scenario(w, m, "transformers");
  s.prompt_tokens = 1000;
  s.output_tokens = 24;
  s.batch = 3;
  const Estimate e = evaluate(s);
  EXPECT_EQ(e.kv_cache.count(), Size{327680} * 1024 * 3);
  EXPECT_EQ(e.weights.count(), w.total.count());
  EXPECT_EQ(e.verdict, Verdict::fits_gpus);
}

TEST(Estimate, RefusalsNameTheirReason) {
  const QuantisedModel int8 = quantise(catalogue_model("Qwen/Qwen3-0.6B"), scheme("int8"));
  const QuantisedModel fp8 = quantise(catalogue_model("Qwen/Qwen3-0.6B"), scheme("fp8"));
  const Machine box = machine(1, 24, 64), cpu_only = machine(0, 0, 64);
  EXPECT_EQ(evaluate(scenario(int8, box, "llama.cpp")).reason, Reason::precision_unsupported);
  EXPECT_EQ(evaluate(scenario(int8, box, "vllm")).reason, Reason::precision_unsupported)
      << "vLLM 0.33 has no bitsandbytes";
  EXPECT_EQ(evaluate(scenario(fp8, cpu_only, "vllm")).reason, Reason::no_gpu);
  Scenario s = scenario(fp8, box, "vllm");
  s.tensor_parallel = 3;
  EXPECT_EQ(evaluate(s).reason, Reason::heads_not_divisible);
  s.tensor_parallel = 2;
  EXPECT_EQ(evaluate(s).reason, Reason::not_enough_gpus);
  s.tensor_parallel = 0;
  s.prompt_tokens = 1'000'000;
  EXPECT_EQ(evaluate(s).reason, Reason::context_too_long);
  s.prompt_tokens = 512;
  s.kv_cache = false;
  EXPECT_EQ(evaluate(s).reason, Reason::cache_required);
}

TEST(Estimate, WithoutACacheMemoryFallsAndStepsGetSlower) {
  const QuantisedModel w = quantise(catalogue_model("Qwen/Qwen3-0.6B"), scheme("bf16"));
  const Machine box = machine(1, 24, 64);
  Scenario s = scenario(w, box, "transformers");
  s.prompt_tokens = 4096;
  s.batch = 8;
  const Estimate with = evaluate(s);
  s.kv_cache = false;
  const Estimate without = evaluate(s);
  EXPECT_EQ(without.kv_cache, Bytes(0));
  EXPECT_LT(without.gpu_bytes, with.gpu_bytes);
  EXPECT_GT(without.tpot.value(), with.tpot.value());
}

/// The sum of the operations printed with a time.
double sum_of_operations(const Explanation& x, const std::string& name) {
  double sum = 0;
  for (const Term& term : x.terms)
    if (term.name.starts_with(name + ": ")) sum += term.expected;
  return sum;
}

TEST(Explain, TermsAndDevicesAgreeWithTheEstimate) {
  Random random(8);
  for (int i = 0; i < 300; ++i) {
    const Drawn d = random.draw();
    const Scenario s = at_home(d);
    const Explanation x = explain(s);
    if (!fits(x.estimate)) continue;
    Bytes most;
    for (const DeviceUse& use : x.devices) {
      ASSERT_EQ(use.total, use.weights + use.kv_cache + use.activations + use.overhead);
      if (use.where == Where::card) most = std::max(most, use.total);
    }
    ASSERT_EQ(most, x.estimate.gpu_bytes);
    for (const Term& term : x.terms) {
      ASSERT_LE(term.low, term.expected) << term.name;
      ASSERT_GE(term.high, term.expected) << term.name;
      ASSERT_FALSE(term.formula.empty()) << term.name;
      ASSERT_FALSE(term.source.empty()) << term.name;
      if ((term.name == "ttft" || term.name == "tpot") && s.draft == nullptr) {
        ASSERT_NEAR(sum_of_operations(x, term.name) / term.expected, 1, 1e-9) << term.name;
      }
    }
  }
}

}  // namespace
}  // namespace headroom::model
