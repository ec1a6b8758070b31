// Plans of llama.cpp whose host memory does not suffice: they go to disk, and never end at once.
#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
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

}  // namespace
}  // namespace headroom::model
