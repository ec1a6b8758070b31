// Layer splits: experts and caches that stay in host memory, splits by rows, and splits by context.
#include "tests/model/answer/last_layers_fixture.hpp"

namespace headroom::model {
namespace {

TEST(LastLayers, ExpertsInHostMemory) {
  // Mixtral: 32 layers, each with 8 experts of 3 × 14336 × 4096 elements.
  SplitByHand c("mistralai/Mixtral-8x7B-v0.1", "gguf-f16", machine(1, 80, 256));
  auto& [w, box, split, s] = c;
  split.gpu_layers = 99;
  const std::string some[] = {R"(blk\.[0-9]\.ffn_(up|down|gate|gate_up)_(ch|)exps)"};
  split.on_host = tensors_on_host(w, some);
  const Plan plan = place(s, 1.0);
  ASSERT_TRUE(plan.feasible());
  const Size layer = Size{2} * 8 * 3 * 14336 * 4096;
  EXPECT_EQ(weights_kept_on_host(s, plan, 0).count(), 10 * layer);
  EXPECT_EQ(card_use(s, plan, 0).weights + host_use(s, plan).weights, w.total);
  EXPECT_EQ(split.on_host.matched, 30);  // gate, up and down are separate, as in the file
  EXPECT_EQ(evaluate(s).verdict, Verdict::fits_cpu_offload);
  // Half of the fused tensor is the gate's.
  const std::string gates[] = {"ffn_gate_exps"};
  split.on_host = tensors_on_host(w, gates);
  EXPECT_EQ(weights_kept_on_host(s, place(s, 1.0), 0).count(), 32 * layer / 3);
  // With more weights on the host, a token is slower and a card needs less memory.
  const Estimate part = evaluate(s);
  const std::string all[] = {"exps"};
  split.on_host = tensors_on_host(w, all);
  const Estimate most = evaluate(s);
  EXPECT_GT(most.tpot.value(), part.tpot.value());
  EXPECT_LT(most.gpu_bytes, part.gpu_bytes);
  const std::string open[] = {"ffn_(up"};
  EXPECT_THROW(tensors_on_host(w, open), std::invalid_argument);
}

/// "CUDA0 buffer size" of logs of ik_llama.cpp, in MiB, with Qwen3-235B-A22B and all layers on
/// cards. Sources: github.com/ikawrakow/ik_llama.cpp issue 530 (Q4_K_M, two RTX 5090), and the
/// thread of fit-2237 (Q8_0, one RTX A6000).
TEST(LastLayers, RulesPutTensorsOnCards) {
  const auto weights = [](std::string_view format, Size cards, std::vector<TensorRule> rules) {
    const QuantisedModel w = quantise(catalogue_model("Qwen/Qwen3-235B-A22B"), scheme(format));
    const Machine box = machine(cards, 200, 500);
    Scenario s = scenario(w, box, "ik_llama.cpp");
    LayerSplit split;
    s.layer_split = &split;
    split.gpu_layers = 100;
    split.on_host = tensors_by_rules(w, rules);
    const Plan plan = place(s, 1.0);
    std::vector<double> mib;
    for (Size card = 0; card < cards; ++card)
      mib.push_back(card_use(s, plan, card).weights.real().value() / MiB);
    EXPECT_EQ(weights_on_cards(s, plan) + host_use(s, plan).weights, w.total);
    return mib;
  };
  // The first rule that matches counts: experts of layers 0 to 29 are on cards.
  const auto two = weights("q4_K_M", 2,
                           {{R"(blk\.[0-9]\.ffn)", 0},
                            {R"(blk\.1[0-4]\.ffn)", 0},
                            {R"(blk\.1[5-9]\.ffn)", 1},
                            {R"(blk\.2[0-9]\.ffn)", 1},
                            {"exps"}});
  EXPECT_NEAR(two[0], 23731, 1);
  EXPECT_NEAR(two[1], 22812, 1);
  const auto one = weights(
      "q8_0", 1,
      {{R"(blk\.1[4-9]\.ffn.*)"}, {R"(blk\.[2-8][0-9]\.ffn.*)"}, {R"(blk\.9[0-3]\.ffn.*)"}});
  EXPECT_NEAR(one[0], 41723.89, 1);
}

TEST(LastLayers, ExpertsOfTheFirstLayersAreThoseThatThePatternsFind) {
  // DeepSeek-V2-Lite has a first layer without experts. gpt-oss has biases in its experts.
  for (const char* name : {"mistralai/Mixtral-8x7B-v0.1", "deepseek-ai/DeepSeek-V2-Lite",
                           "openai/gpt-oss-20b", "Qwen/Qwen3-30B-A3B"})
    for (const char* held : {"bf16", "q4_K_M"}) {
      const QuantisedModel w = quantise(catalogue_model(name), scheme(held));
      const Size layers = std::ssize(w.layer);
      for (const Size first : {Size{1}, Size{7}, layers - 1, layers, layers + 5}) {
        std::vector<std::string> patterns;
        for (Size i = 0; i < std::min(first, layers); ++i)
          patterns.push_back("blk\\." + std::to_string(i) +
                             R"(\.ffn_(up|down|gate|gate_up)_(ch|)exps)");
        const HostTensors found = tensors_on_host(w, patterns), summed = experts_on_host(w, first);
        ASSERT_EQ(found.bytes_before.size(), summed.bytes_before.size());
        for (std::size_t i = 0; i < found.bytes_before.size(); ++i) {
          ASSERT_EQ(found.bytes_before[i], summed.bytes_before[i]) << name << ' ' << i;
          const double slack = 1e-9 * found.bytes_before[i].real().value() + 1e-3;
          ASSERT_NEAR(found.read_routed_before[i], summed.read_routed_before[i], slack) << name;
          ASSERT_NEAR(found.multiplied_before[i], summed.multiplied_before[i], slack) << name;
        }
      }
    }
}

TEST(LastLayers, ByContextNeitherOneLayerMoreNorOneExpertFewerFits) {
  for (const char* name : {"meta-llama/Llama-3.3-70B-Instruct", "Qwen/Qwen3-30B-A3B",
                           "openai/gpt-oss-20b", "google/gemma-3-27b-it"})
    for (const Size cards : {1, 2}) {
      const Model& model = catalogue_model(name);
      const QuantisedModel w = quantise(model, scheme("q4_K_M"));
      const Machine box = machine(cards, 12, 128);
      Scenario s = scenario(w, box, "llama.cpp");
      s.gpu_budget = Bytes(Size{12} << 30);  // no margin, as where layers are placed by hand
      const Size layers = std::ssize(w.layer);
      const auto rows = layers_by_context(s);
      ASSERT_GT(rows.size(), 5U);
      Size before = layers + 1;
      for (const LayersAtContext& row : rows) {
        Scenario changed = s;
        changed.context = row.context;
        EXPECT_LE(row.gpu_layers, before) << name << ' ' << row.context;
        before = row.gpu_layers;
        LayerSplit split;
        changed.layer_split = &split;
        split.gpu_layers = row.gpu_layers;
        EXPECT_TRUE(place(changed, 1.0).feasible()) << name << ' ' << row.context;
        if (row.gpu_layers <= layers && cards == 1) {
          split.gpu_layers = row.gpu_layers + 1;
          EXPECT_EQ(place(changed, 1.0).reason, Reason::gpu_memory) << name << ' ' << row.context;
        }
        ASSERT_EQ(row.cpu_moe >= 0, model.profile.routing.experts > 0) << name;
        if (row.cpu_moe < 0) continue;
        split.gpu_layers = layers + 1;
        if (row.cpu_moe > 0) split.on_host = experts_on_host(w, row.cpu_moe);
        EXPECT_TRUE(place(changed, 1.0).feasible()) << name << ' ' << row.context;
        EXPECT_EQ(evaluate(changed).tokens_s, row.with_cpu_moe.tokens_s);
        if (row.cpu_moe == 0) continue;
        split.on_host = {};
        if (row.cpu_moe > 1) split.on_host = experts_on_host(w, row.cpu_moe - 1);
        EXPECT_EQ(place(changed, 1.0).reason, Reason::gpu_memory) << name << ' ' << row.context;
      }
    }
}

TEST(ParallelSplits, AreTheEstimatesOfEachAndNoDivisorIsLeftOut) {
  const QuantisedModel w = quantise(catalogue_model("Qwen/Qwen3-30B-A3B"), scheme("bf16"));
  const Machine box = machine(8, 40, 500);
  Scenario s = scenario(w, box, "vllm");
  s.context = 8192;
  std::set<std::array<Size, 3>> seen;
  for (const ParallelSplit& split : parallel_splits(s)) {
    ASSERT_TRUE(seen.insert({split.tensor, split.pipeline, split.expert}).second);
    Scenario one = s;
    one.tensor_parallel = split.tensor;
    one.pipeline_parallel = split.pipeline;
    one.expert_parallel = split.expert;
    const Estimate e = evaluate(one);
    EXPECT_EQ(e.verdict, split.estimate.verdict);
    EXPECT_EQ(e.tokens_s, split.estimate.tokens_s);
    EXPECT_EQ(split.room.has_value(), e.verdict < Verdict::does_not_fit);
  }
  // The splits are (1, 1), (1, 2), (1, 4), (1, 8), (2, 1), (2, 2), (2, 4), (4, 1), (4, 2) and (8,
  // 1). Splits with more than one card per stage also appear with whole experts.
  EXPECT_EQ(seen.size(), 16U);
  s.tensor_parallel = 4;
  EXPECT_EQ(parallel_splits(s).size(), 4U);
  s.pipeline_parallel = 2;
  EXPECT_EQ(parallel_splits(s).size(), 2U);
}

/// Stages divide the decoder's layers. The towers are on the first one, whatever their layers.
TEST(ParallelSplits, TowersDoNotCountAsLayersOfStages) {
  const QuantisedModel w = quantise(catalogue_model("Qwen/Qwen2.5-VL-7B-Instruct"), scheme("bf16"));
  const Machine box = machine(3, 40, 500);
  Scenario s = scenario(w, box, "vllm");
  s.pipeline_parallel = 3;
  const Plan plan = place(s, 1.0);
  const Size towers = tower_layers(*w.model);
  ASSERT_GT(towers, 0);
  // 28 layers over three stages: the stage before the last has one more (vLLM's get_pp_indices)
  EXPECT_EQ(plan.layer_boundaries,
            (decltype(plan.layer_boundaries){0, towers + 9, towers + 19, towers + 28}));
}

TEST(LastLayers, CachesStayInHostMemoryWhereAsked) {
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("q4_K_M"));
  const Machine box = machine(1, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp");
  s.context = 8192;
  LayerSplit split;
  s.layer_split = &split;
  split.gpu_layers = 99;
  const Estimate with = evaluate(s);
  split.cache_on_cards = false;
  const Estimate without = evaluate(s);
  EXPECT_EQ(with.kv_cache, without.kv_cache);
  EXPECT_EQ((with.gpu_bytes - without.gpu_bytes), with.kv_cache);
  EXPECT_EQ((without.cpu_bytes - with.cpu_bytes), with.kv_cache);
  EXPECT_GT(without.tpot.value(), with.tpot.value());
}

TEST(LastLayers, RowsAreSharedAndTheRestGoesByLayer) {
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("gguf-f16"));
  const Machine box = machine(2, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp");
  LayerSplit split{.gpu_layers = 99, .shares = {3, 1}, .mode = SplitMode::row, .on_host = {}};
  s.layer_split = &split;
  const Plan plan = place(s, 1.0);
  ASSERT_TRUE(plan.feasible());
  const double first = card_use(s, plan, 0).weights.real().value();
  const double second = card_use(s, plan, 1).weights.real().value();
  EXPECT_NEAR(first / second, 3.0, 0.01);
  EXPECT_NEAR(first + second, (w.total - w.embedding).real().value(), 2.0);
}

TEST(LastLayers, OneCardAlone) {
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Meta-Llama-3.1-8B"), scheme("q4_K_M"));
  const Machine box = machine(3, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp");
  LayerSplit split{.gpu_layers = 99, .mode = SplitMode::none, .main_card = 1, .on_host = {}};
  s.layer_split = &split;
  const Plan plan = place(s, 1.0);
  EXPECT_EQ(card_use(s, plan, 0).total(), Bytes(0));
  EXPECT_EQ(plan.layers_of(1).size(), 32);
  EXPECT_EQ(evaluate(s).gpus_used, 1);
  EXPECT_EQ(evaluate(s).verdict, Verdict::fits_one_gpu);
}

TEST(LastLayers, NothingIsLostOrTwice) {
  std::mt19937 engine(11);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(engine);
  };
  for (const char* name : {"meta-llama/Meta-Llama-3.1-8B", "openai/gpt-oss-20b",
                           "google/gemma-2-9b", "mistralai/Mixtral-8x7B-v0.1"}) {
    const QuantisedModel w = quantise(catalogue_model(name), scheme("q4_K_M"));
    const Size layers = std::ssize(w.layer);
    for (int i = 0; i < 500; ++i) {
      const Machine box = machine(draw(1, 6), draw(4, 48), 256);
      Scenario s = scenario(w, box, "llama.cpp");
      LayerSplit split;
      split.gpu_layers = draw(-1, static_cast<int>(layers) + 3);
      for (std::size_t card = 0; card < box.devices.size(); ++card)
        split.shares[card] = static_cast<float>(draw(0, 9));
      s.layer_split = &split;
      const Plan plan = place(s, 1.0);
      ASSERT_EQ(plan.on_cards.size() + plan.on_cpu.size() + plan.on_disk.size(), layers);
      if (plan.cards == 0) continue;
      Size on_cards = 0, heads = 0;
      for (Size card = 0; card < plan.cards; ++card) {
        ASSERT_GE(plan.layers_of(card).size(), 0);
        on_cards += plan.layers_of(card).size();
        heads += plan.has_head(card) ? 1 : 0;
      }
      ASSERT_EQ(on_cards, plan.on_cards.size());
      ASSERT_EQ(heads, plan.head == Where::card ? 1 : 0);
      if (plan.feasible() && split.gpu_layers < 0) {
        for (Size card = 0; card < plan.cards; ++card)
          ASSERT_LE(card_use(s, plan, card).total(),
                    card_budget(s, static_cast<std::size_t>(card)));
      }
    }
  }
}

}  // namespace
}  // namespace headroom::model
