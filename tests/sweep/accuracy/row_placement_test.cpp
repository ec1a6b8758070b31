// Placement of weights and caches in canonical rows; their drafts and sizes of files.
#include "sweep/accuracy/row_placement.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/infer/placement/placement.hpp"
#include "sweep/accuracy/published_sizes.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {
namespace {

using Columns = std::map<std::string, std::string, std::less<>>;

/// A row of partial offload with these columns.
struct Read {
  explicit Read(Columns columns) : subjects("") {
    columns.merge(Columns{{"kind", "inference"},
                          {"group", "offload"},
                          {"model", "Qwen/Qwen3-30B-A3B"},
                          {"runtime", "llama.cpp"},
                          {"precision", "q4_k_m"},
                          {"machine", "1x rtx-4090"},
                          {"ram_gbs", "83.2"},
                          {"cpu_gflops", "2304"},
                          {"prompt_tokens", "512"},
                          {"output_tokens", "128"},
                          {"figure", "step"},
                          {"form", "rate_of_output"},
                          {"value", "30.5"},
                          {"unit", "tokens/s"}});
    written.fields = std::move(columns);
    subject = subjects.subject(written);
  }
  double on_host() const {
    const model::LayerSplit* split = subject.scenario.layer_split;
    if (split == nullptr || split->on_host.bytes_before.empty()) return 0;
    return split->on_host.bytes_before.back().real().value();
  }
  Measurement written;
  Subjects subjects;
  ScoredRow subject;
};

/// 48 equal layers have 128 experts each, and an expert has three matrices. Host memory is
/// therefore proportional to the number of layers.
TEST(RowPlacement, ExpertsInHostMemory) {
  const Read all({{"gpu_layers", "99"}, {"cpu_moe", "yes"}});
  EXPECT_GT(all.on_host(), 15e9);
  const double some = Read(Columns{{"gpu_layers", "99"}, {"n_cpu_moe", "24"}}).on_host();
  EXPECT_NEAR(some, all.on_host() / 2, 0.02 * all.on_host());
  EXPECT_NEAR(Read(Columns{{"gpu_layers", "99"}, {"override_tensor", "exps=CPU"}}).on_host(),
              all.on_host(), 1e-3 * all.on_host());
  EXPECT_EQ(Read(Columns{{"gpu_layers", "99"}}).on_host(), 0);
  EXPECT_THROW(Read(Columns{{"gpu_layers", "99"}, {"override_tensor", "nothing=CPU"}}), Skipped);
}

/// Source: kvcache-ai/ktransformers. Experts are on the CPU unless a number of them is on the card.
TEST(RowPlacement, ExpertsThatStayThere) {
  const double all = Read(Columns{{"gpu_layers", "99"}, {"cpu_moe", "yes"}}).on_host();
  EXPECT_EQ(Read(Columns{{"runtime", "ktransformers"}}).on_host(), all);
  EXPECT_NEAR(Read(Columns{{"runtime", "kt-kernel"}, {"experts_on_card", "0.25"}}).on_host(),
              0.75 * all, 1e3);
}

/// Source: FMInference/FlexGen flex_opt.py. At 20 %, each layer's last attention matrix is on the
/// card, a twelfth of an OPT layer. The batch is --gpu-batch-size x --num-gpu-batches.
TEST(RowPlacement, FlexGensPolicies) {
  const auto read = [](Columns columns) {
    columns.merge(
        Columns{{"runtime", "flexgen"}, {"model", "facebook/opt-6.7b"}, {"precision", "fp16"}});
    return Read(std::move(columns));
  };
  const auto on_card = [&](const std::string& percent) {
    const Read r = read({{"weights_on_card", percent}});
    EXPECT_EQ(r.subject.group, "offload_streamed");
    return place(r.subject.scenario, 1.0).on_cards.size();
  };
  EXPECT_EQ(on_card("0%"), 0);
  EXPECT_EQ(on_card("20%"), 3);
  EXPECT_EQ(on_card("50%"), 16);
  EXPECT_EQ(read({{"gpu_batches", "3"}}).subject.scenario.batch_parts, 3);
  EXPECT_EQ(read({}).subject.scenario.batch_parts, 1);
  EXPECT_FALSE(read({{"no_kv_offload", "yes"}}).subject.scenario.layer_split->cache_on_cards);
}

TEST(RowPlacement, LayersOnTheCard) {
  const auto layers = [](const std::string& count) {
    return Read(Columns{{"model", "meta-llama/Llama-2-7b-hf"}, {"gpu_layers", count}})
        .subject.scenario.layer_split->gpu_layers;
  };
  EXPECT_EQ(layers("13"), 13);
  EXPECT_EQ(layers("0"), 0);
  EXPECT_EQ(layers("all"), 33);
}

/// A row without a value that the time depends on is skipped.
TEST(RowPlacement, NeedsWhatTheTimeDependsOn) {
  const Columns half = {{"gpu_layers", "13"}};
  EXPECT_NO_THROW(Read{half});
  Columns slow = half;
  slow["ram_gbs"] = "";
  EXPECT_THROW(Read{slow}, Skipped);
  EXPECT_THROW(Read(Columns{{"model", "Qwen/Qwen2.5-72B"}}), Skipped) << "how many layers?";
}

/// A file of half the size halves each layer and what a pass reads of it.
TEST(RowPlacement, FilesOfAPrintedSize) {
  const Read plain(Columns{{"gpu_layers", "99"}});
  const model::QuantisedModel& whole = *plain.subject.scenario.weights;
  const double bytes = stored_bytes(*whole.model, *whole.scheme);
  const std::string half = fmt::format("{}", bytes / 2 / GiB);
  const auto share = [&](Columns columns) {
    columns.merge(Columns{{"gpu_layers", "99"}, {"weights_gib", half}});
    const Read row(std::move(columns));
    const model::QuantisedModel& own = *row.subject.scenario.weights;
    const double total = own.total.real() / whole.total.real();
    EXPECT_NEAR(own.layers_before.back().real() / whole.layers_before.back().real(), total, 1e-6);
    EXPECT_NEAR(own.read_routed.back() / whole.read_routed.back(), total, 1e-6);
    return total;
  };
  EXPECT_NEAR(share({}), 0.5, 1e-6);
  // llama-bench counts modules that predict further tokens, which are not the model's.
  const auto parameters = static_cast<double>(whole.model->profile.parameters);
  EXPECT_NEAR(share({{"parameters", fmt::format("{}", 1.05 * parameters)}}), 0.5 / 1.05, 1e-6);
}

TEST(RowPlacement, Drafts) {
  const Columns vllm = {{"runtime", "vllm"}, {"precision", "bf16"}, {"machine", "1x h200"}};
  const auto read = [&](Columns columns) {
    columns.merge(Columns(vllm));
    return Read(std::move(columns));
  };
  const Read drafted = read({{"model", "Qwen/Qwen3.8-27B"}, {"speculate", "mtp:2"}});
  ASSERT_NE(drafted.subject.scenario.draft, nullptr);
  EXPECT_EQ(drafted.subject.scenario.draft->tokens, 2);
  EXPECT_EQ(drafted.subject.group, "speculative");
  EXPECT_EQ(read({{"model", "Qwen/Qwen3.8-27B"}}).subject.scenario.draft, nullptr);
  EXPECT_THROW(read({{"speculate", "mtp:2"}}), Skipped) << "no modules";
}

/// The scenario of a label under vLLM or ExLlama.
struct Labelled {
  explicit Labelled(Columns columns) : subjects("") {
    columns.merge(Columns{{"kind", "inference"},
                          {"model", "Qwen/Qwen3-30B-A3B"},
                          {"runtime", "vllm"},
                          {"precision", "bf16"},
                          {"machine", "4x h100-sxm-80gb"},
                          {"prompt_tokens", "512"},
                          {"output_tokens", "1"},
                          {"outcome", "fits"}});
    written.fields = std::move(columns);
    scenario = subjects.labelled(written);
  }
  Measurement written;
  Subjects subjects;
  model::Scenario scenario;
};

TEST(RowPlacement, ReplicasShareExperts) {
  const Labelled row({{"dp", "2"}, {"tp", "2"}, {"ep", "4"}});
  EXPECT_EQ(row.scenario.data_parallel, 2);
  EXPECT_EQ(row.scenario.expert_parallel, 4);
  const model::Plan plan = place(row.scenario, 1.0);
  EXPECT_EQ(plan.cards, 4);
  // 2 of 4 cards would be another spread, which no rule describes
  EXPECT_THROW(Labelled({{"dp", "2"}, {"tp", "2"}, {"ep", "2"}}), Skipped);
}

TEST(RowPlacement, BudgetOfALabel) {
  const auto least = [](const std::string& budget) {
    return place(Labelled({{"machine", "1x h100-sxm-80gb"}, {"gpu_budget", budget}}).scenario, 1.0)
        .feasible();
  };
  EXPECT_TRUE(least("75GiB"));
  EXPECT_FALSE(least("50GiB"));  // 30.5e9 parameters of 16 bit
}

TEST(RowPlacement, TowersOfALabel) {
  const auto parameters = [](const std::string& text_only) {
    const Labelled row({{"model", "Qwen/Qwen2.5-VL-7B-Instruct"}, {"text_only", text_only}});
    return row.scenario.weights->model->profile.parameters;
  };
  EXPECT_EQ(parameters("") - parameters("yes"), 676'550'144);  // sum of visual.* in the checkpoint
}

}  // namespace
}  // namespace headroom::sweep
