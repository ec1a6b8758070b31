// Plans of llama.cpp whose host memory does not suffice: they go to disk, and never end at once.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr const char* mixture = "Qwen/Qwen3-235B-A22B";

/// Card and host have one memory. The embedding and the CPU's buffers need a part of it.
TEST(OneMemory, LeavesTheHostWhatItNeedsBesidesLayers) {
  for (const char* machine : {"strix-halo", "dgx-spark"}) {
    test::OnCards c(mixture, "q4_K_M", machine, "llama.cpp");
    double before = 0;
    for (Size context = 8192; context <= 40960; context += 1024) {
      c.s.context = context;
      const Estimate e = evaluate(c.s);
      EXPECT_TRUE(fits(e)) << machine << ' ' << context;
      EXPECT_LE(e.gpu_bytes + e.cpu_bytes, c.s.machine->host.ram) << machine << ' ' << context;
      EXPECT_GE(e.tpot.value(), 0.97 * before) << machine << ' ' << context;
      before = e.tpot.value();
    }
  }
}

/// CUDA sees as much of the host's memory as the system: 121.7 of 128 GiB.
TEST(OneMemory, OfADgxSparkIsWhatItsSystemSees) {
  const Machine spark = parse_machine("dgx-spark", shipped_catalogue());
  EXPECT_EQ(spark.host.ram, usable_memory(spark.devices.front()));
  EXPECT_LT(spark.host.ram, spark.devices.front().memory);
}

/// Two boxes, joined by their network.
TEST(OneMemory, TwoDgxSparksShareAModel) {
  test::OnCards c("Qwen/Qwen3-235B-A22B", "fp8", "2x gb10", "vllm");
  EXPECT_EQ(c.box.host.boxes, 2);
  EXPECT_EQ(c.box.card_link(2).path, LinkPath::network);
  const Estimate two = evaluate(c.s);
  EXPECT_EQ(two.gpus_used, 2);
  EXPECT_THROW(parse_machine("2x m4-max-128gb", shipped_catalogue()), std::invalid_argument);
}

/// Experts that exceed host memory are read from disk: slower with less memory, without an end.
TEST(HostMemory, ExpertsMayExceedIt) {
  test::OnCards c(mixture, "q4_K_M", "rtx-4090 @ epyc-rome-512gb", "llama.cpp");
  double before = 0;
  for (const Size gib : {256, 128, 112, 96, 64, 48}) {
    c.s.ram_budget = Bytes(gib << 30);
    const Estimate e = evaluate(c.s);
    EXPECT_TRUE(fits(e)) << gib;
    EXPECT_GE(e.tpot.value(), before) << gib;
    EXPECT_EQ(e.verdict == Verdict::fits_disk_offload, gib <= 112) << gib;
    before = e.tpot.value();
  }
}

/// llama.cpp's fit counts the host's memory only where there is no card (common/fit.cpp). Experts
/// stay mapped, and no layer leaves the card because they exceed memory.
TEST(HostMemory, LayersStayOnCardsWhereExpertsExceedIt) {
  test::OnCards c(mixture, "q4_K_M", "rtx-4090 @ epyc-rome-512gb", "llama.cpp");
  const Plan enough = place(c.s, 1.0);
  ASSERT_GT(enough.host_experts.size(), 0);
  c.s.ram_budget = Bytes(Size{64} << 30);
  const Plan little = place(c.s, 1.0);
  EXPECT_EQ(little.host_experts, enough.host_experts);
  EXPECT_EQ(little.on_cards, enough.on_cards);
  EXPECT_GT(little.kept_on_disk, Bytes(0));
}

/// A token reads a few rows of a table, so its pages leave memory before experts do.
TEST(HostMemory, TablesLeaveItBeforeExperts) {
  test::OnCards c("Qwen/Qwen3.8-Flash-Next", "q3_K_M", "rtx-5090 @ epyc-rome-512gb", "llama.cpp");
  const double all = evaluate(c.s).tokens_s;
  const Plan plan = place(c.s, 1.0);
  const Bytes tables = tables_on_host(c.s, plan.on_cards);
  ASSERT_GT(tables, Bytes(Size{8} << 30));
  const Bytes used = evaluate(c.s).cpu_bytes;
  c.s.ram_budget = used - tables + Bytes(Size{4} << 30);
  EXPECT_EQ(evaluate(c.s).verdict, Verdict::fits_disk_offload);
  EXPECT_GT(evaluate(c.s).tokens_s, 0.9 * all);
}

}  // namespace
}  // namespace headroom::model
