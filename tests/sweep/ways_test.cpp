// The choice of engine and precision where a question leaves them out.
#include "sweep/ways.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/checkpoint/text_only.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/sources/source.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

std::vector<Way> ways_of(const model::Model& m, const Machine& machine, const Compared& compared,
                         Size context = 0) {
  model::Scenario s;
  s.machine = &machine;
  s.context = context;
  return compare_ways(m, s, compared);
}

std::vector<Way> ways_on(const model::Model& m, const Machine& machine, Size context = 0) {
  const Engines engines;
  std::vector<Way> ways =
      ways_of(m, machine, {comparable_engines(engines, m, machine), {}}, context);
  EXPECT_FALSE(ways.empty()) << m.name;
  for (Way& way : ways) way.engine = &model::engine(way.engine->name);  // outlives `engines`
  return ways;
}

Machine machine(std::string_view text) {
  return parse_machine(std::string(text), shipped_catalogue());
}

/// A card with more memory never gets narrower weights, and never loses the place on cards.
TEST(Ways, MoreMemoryNeverMeansFewerBits) {
  for (const auto* name : {"Qwen/Qwen3-8B", "Qwen/Qwen3-14B", "Qwen/Qwen3-32B", "gpt-oss-20b",
                           "Llama-3.3-70B-Instruct"}) {
    const model::Model m = resolve_model(name);
    Bytes widest{0};
    bool on_cards = false;
    for (const auto* card : {"rtx-3060-12gb", "rtx-4060-ti-16gb", "rtx-4090", "rtx-5090",
                             "a100-sxm-40gb", "a100-sxm-80gb", "h200-sxm-141gb"}) {
      const Machine on = machine(card);
      const Way best = ways_on(m, on).front();
      const bool fits = model::is_on_gpus(best.estimate);
      EXPECT_TRUE(fits || !on_cards) << name << " on " << card;
      if (!fits) continue;
      // Formats of one width differ by padding and scales.
      EXPECT_GE(best.weights->total.real().value() * 1.05, widest.real().value())
          << name << " on " << card;
      widest = best.weights->total;
      on_cards = true;
    }
    EXPECT_TRUE(on_cards) << name;
  }
}

/// Nothing that needs offload is before something on cards.
TEST(Ways, NothingOffloadedStandsBeforeWhatIsOnCards) {
  for (const auto* name : {"Qwen/Qwen3-32B", "DeepSeek-V3", "facebook/opt-30b"})
    for (const auto* card : {"rtx-4090", "8x h100-sxm-80gb"}) {
      const model::Model m = resolve_model(name);
      const Machine on = machine(card);
      bool offloaded = false;
      for (const Way& way : ways_on(m, on)) {
        if (!model::is_on_gpus(way.estimate)) offloaded = true;
        EXPECT_FALSE(offloaded && model::is_on_gpus(way.estimate)) << name << " on " << card;
      }
    }
}

TEST(Ways, OnlyEnginesForTheCardsAndTheClass) {
  const Engines engines;
  const auto names = [&](const char* model, const char* on) {
    std::vector<std::string> all;
    for (const auto* each : comparable_engines(engines, resolve_model(model), machine(on)))
      all.emplace_back(each->name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("Qwen/Qwen3-8B", "rtx-4090"), (Names{"transformers", "llama.cpp", "vllm"}));
  EXPECT_EQ(names("Qwen/Qwen3-8B", "m3-max-48gb"), (Names{"transformers", "llama.cpp", "mlx-lm"}));
  EXPECT_EQ(names("facebook/opt-30b", "rtx-4090"), (Names{"transformers", "vllm"}));
  EXPECT_EQ(names("BAAI/bge-m3", "m3-max-48gb"), (Names{"transformers", "llama.cpp"}));
}

/// 8 bits of a server's engine are twice as fast as 16 that another one splits by layers.
TEST(Ways, FormatsOfEightBitsGoByTheirSpeed) {
  const model::Model m = resolve_model("Qwen/Qwen2.5-72B");
  const Machine on = machine("2x h100-sxm-80gb");
  const std::vector<Way> ways = ways_on(m, on, 8192);
  EXPECT_EQ(ways.front().engine->name, "vllm");
  EXPECT_EQ(ways.front().weights->scheme->name, "fp8");
  for (const char* other : {"bf16", "q8_0"}) {
    EXPECT_TRUE(std::ranges::any_of(ways, [&](const Way& way) {
      return way.weights->scheme->name == other && model::is_on_gpus(way.estimate);
    })) << other;
  }
}

/// transformers unpacks this precision to 16 bit, which hold no more.
TEST(Ways, UnpackedWeightsAreNoWiderThanAskedFor) {
  const Engines engines;
  const model::Model m = resolve_model("Qwen/Qwen3-8B");
  const Machine on = machine("rtx-4090");
  const auto ways = ways_of(m, on, {comparable_engines(engines, m, on), {"int4"}});
  EXPECT_EQ(ways.front().weights->scheme->name, "int4");
  EXPECT_EQ(ways.back().weights->scheme->name, "bf16");
}

/// transformers is compared in its own 16 bits, and in bitsandbytes' formats where it is asked for.
TEST(Ways, AnEngineThatIsAskedForIsComparedInMorePrecisions) {
  const Engines engines;
  const model::Model m = resolve_model("Qwen/Qwen3-32B");
  const Machine on = machine("rtx-4090");
  Compared compared{{&engines.named("transformers")}, {}};
  EXPECT_EQ(ways_of(m, on, compared).size(), 1U);
  compared.engine_asked = true;
  const auto ways = ways_of(m, on, compared);
  ASSERT_EQ(ways.size(), 3U);
  EXPECT_EQ(ways.front().weights->scheme->name, "nf4");
  EXPECT_TRUE(model::is_on_gpus(ways.front().estimate));
  EXPECT_FALSE(model::is_on_gpus(ways[1].estimate));
}

TEST(Ways, APrecisionOfOneEngineTakesIt) {
  const Engines engines;
  const auto names = [&](const char* on, std::vector<std::string> precisions) {
    std::vector<std::string> all;
    for (const auto* each :
         comparable_engines(engines, resolve_model("Qwen/Qwen3-8B"), machine(on), precisions))
      all.emplace_back(each->name);
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("rtx-4090", {"exl3-4bpw"}), (Names{"exllamav3"}));
  EXPECT_EQ(names("rtx-4090", {"exl3-4bpw", "q4_K_M"}),
            (Names{"transformers", "llama.cpp", "vllm"}));
  EXPECT_EQ(names("m3-max-48gb", {"exl3-4bpw"}), (Names{"transformers", "llama.cpp", "mlx-lm"}));
  EXPECT_EQ(names("rtx-4090", {"mlx-4bit"}), (Names{"transformers", "llama.cpp", "vllm"}));
}

/// mlx-lm 0.32.2 models/qwen2_vl.py drops the tower, which llama.cpp loads.
TEST(Ways, WithTowersComeBeforeThoseOfTextAlone) {
  const model::Model whole = resolve_model("Qwen/Qwen2.5-VL-7B-Instruct");
  const Machine on = machine("m4-max-64gb");
  const auto is_text = [](const Way& way) { return way.without_towers; };
  const auto ways = ways_on(whole, on);
  EXPECT_EQ(ways.front().engine->name, "llama.cpp");
  EXPECT_EQ(std::ranges::count_if(ways, is_text), 4);
  const auto without = ways_on(model::without_towers(whole), on);
  EXPECT_EQ(without.front().engine->name, "mlx-lm");
  EXPECT_TRUE(std::ranges::none_of(without, is_text));
}

/// A mixture that 4 bits leave on disk runs from memory below 4 bits, and only then are these
/// compared.
TEST(Ways, FormatsBelowFourBitsJoinWhereNothingElseIsUsable) {
  const auto narrow = [](const Way& way) {
    return below_four_bits(way) && way.weights->scheme->name != "q3_K_M";
  };
  const model::Model large = resolve_model("Qwen/Qwen3-235B-A22B"),
                     small = resolve_model("Qwen/Qwen3-30B-A3B");
  const Machine on = machine("rtx-4090");
  const auto ways = ways_on(large, on);
  EXPECT_TRUE(std::ranges::any_of(ways, narrow));
  for (const Way& way : ways) {
    EXPECT_TRUE(!narrow(way) || way.estimate.tokens_s >= 1);
  }
  EXPECT_TRUE(std::ranges::none_of(ways_on(small, on), narrow));
}

/// Room for a display on cards with GDDR, none under a budget of the user's or an engine's share.
TEST(Ways, SpareMemory) {
  const Machine display = machine("rtx-4090"), server = machine("a100-sxm-80gb"),
                mac = machine("m3-max-48gb");
  const model::QuantisedModel weights =
      model::quantise(test::catalogue_model("openai-community/gpt2"), model::scheme("fp16"));
  model::Scenario s;
  s.weights = &weights;
  s.runtime = &model::engine("ik_llama.cpp");
  s.machine = &display;
  EXPECT_EQ(spare_memory(s), Bytes(Size{1536} << 20));
  s.machine = &server;
  EXPECT_EQ(spare_memory(s), Bytes(Size{1024} << 20));
  s.machine = &mac;
  EXPECT_EQ(spare_memory(s), Bytes(0));
  s.machine = &display;
  s.gpu_budget = Bytes(Size{20} << 30);
  EXPECT_EQ(spare_memory(s), Bytes(0));
  s.gpu_budget = model::unlimited;
  for (const char* engine : {"vllm", "llama.cpp", "transformers"}) {  // these leave some themselves
    s.runtime = &model::engine(engine);
    EXPECT_EQ(spare_memory(s), Bytes(0));
  }
}

/// A host keeps 4 GiB of the memory that it shares with a card. The system's own limit leaves a Mac
/// and a Radeon 8060S as much already, and GB10 has no such limit.
TEST(Ways, TheHostKeepsSomeOfTheMemoryThatItShares) {
  const auto spare = [](const char* on, const char* engine) {
    const Machine m = machine(on);
    model::Scenario s;
    s.runtime = &model::engine(engine);
    s.machine = &m;
    return spare_memory(s);
  };
  EXPECT_EQ(spare("dgx-spark", "llama.cpp"), Bytes(Size{4} << 30));
  EXPECT_EQ(spare("2x dgx-spark", "llama.cpp"), Bytes(Size{4} << 30)) << "each box has a host";
  EXPECT_EQ(spare("radeon-8060s-128gb", "llama.cpp"), Bytes(0));
  EXPECT_EQ(spare("m3-max-48gb", "mlx-lm"), Bytes(0));
  EXPECT_EQ(spare("dgx-spark", "vllm"), Bytes(0)) << "its share of the card leaves some";
}

/// Cards that bring all weights from host memory for each token are behind the CPU, which holds
/// them unpacked: no CPU runs kernels of FP8.
TEST(Ways, TheCpuAloneComesBeforeCardsThatWaitForWeights) {
  const model::Model m = resolve_model("deepseek-ai/DeepSeek-V4.1-Flash");
  const Machine on = machine("h200-sxm-141gb");
  const Way best = ways_on(m, on).front();
  EXPECT_EQ(best.gpu_budget, Bytes(0));
  EXPECT_EQ(best.estimate.gpus_used, 0);
  EXPECT_EQ(best.weights->scheme->name, "bf16");
  model::Scenario s;
  s.machine = &on;
  run_by(s, best);
  EXPECT_EQ(model::evaluate(s), best.estimate);
  s.gpu_budget = model::unlimited;
  const auto stored = model::quantise(m, model::scheme(m.checkpoint_scheme));
  s.weights = &stored;
  EXPECT_TRUE(model::fits(model::evaluate(s)));
  EXPECT_GT(model::evaluate(s).tpot, 10 * best.estimate.tpot);
  s.gpu_budget = Bytes(0);
  EXPECT_FALSE(model::fits(model::evaluate(s))) << "on kernels that a CPU does not have";
}

/// A card that holds not even the layers it computes with takes nothing from the CPU beside it.
TEST(Ways, TheCpuAloneRunsWhatTheCardBesideItHasNoRoomFor) {
  const model::Model m = resolve_model("deepseek-ai/DeepSeek-V4.1-Flash");
  for (const char* name : {"h100-sxm-80gb", "rtx-4060 @ dgx-h100"}) {
    const Machine on = machine(name);
    const Way best = ways_on(m, on).front();
    EXPECT_TRUE(model::fits(best.estimate)) << name;
    EXPECT_EQ(best.gpu_budget, Bytes(0)) << name;
  }
}

/// Many requests that are slow together are not fast enough because their sum is.
TEST(Ways, NarrowFormatsJoinWhereEachRequestIsSlow) {
  const model::Model m = resolve_model("Qwen/Qwen3.8-27B");
  const Machine on = machine("rtx-4090");
  const Engines engines;
  model::Scenario s;
  s.machine = &on;
  s.context = 8192;
  s.batch = 16;
  const auto ways = compare_ways(m, s, {comparable_engines(engines, m, on), {}});
  const auto narrowest = [](const Way& way) { return way.weights->scheme->name == "iq3_xxs"; };
  EXPECT_TRUE(std::ranges::any_of(ways, narrowest)) << "no engine is usually run with it";
}

TEST(Ways, TheWidestWeightsAreCalledSo) {
  const auto words = [](const char* name, const char* card) {
    return choice_words(ways_on(resolve_model(name), machine(card), 8192), 1);
  };
  // q6_K has room, too, so q5_K_M is not the widest that does.
  EXPECT_EQ(words("google/gemma-3-27b-it", "rtx-5090"), "faster for its bits than wider weights");
  EXPECT_EQ(words("Qwen/Qwen3-8B", "rtx-4090"), "the widest weights that fit");
  // Other formats of a checkpoint in 4 bits take more bytes, and hold no more.
  EXPECT_EQ(words("openai/gpt-oss-20b", "rtx-4090"), "the widest weights that fit");
}

}  // namespace
}  // namespace headroom::sweep
