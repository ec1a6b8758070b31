// Weights that are left in host memory, and exceed it: they are read from their mapped file.
#include "tests/model/answer/last_layers_fixture.hpp"

namespace headroom::model {
namespace {

constexpr Size gib = Size{1} << 30;

/// Mixtral in 16 bit with all experts, 84 GiB, in the memory of a host.
class MappedExperts : public testing::Test {
 protected:
  MappedExperts() {
    split_.gpu_layers = 99;
    const std::string all[] = {"exps"};
    split_.on_host = tensors_on_host(weights_, all);
  }
  Estimate with_ram(Size ram_gib, bool maps_files = true, const char* engine = "llama.cpp") {
    box_.host.ram = ram_gib * Bytes(gib);
    Scenario s = scenario(weights_, box_, engine);
    s.layer_split = &split_;
    s.maps_files = maps_files;
    return evaluate(s);
  }
  /// 32 layers, 8 experts of 3 matrices of 14336 × 4096.
  static constexpr Size experts = Size{2} * 32 * 8 * 3 * 14336 * 4096;

  QuantisedModel weights_ =
      quantise(catalogue_model("mistralai/Mixtral-8x7B-v0.1"), scheme("gguf-f16"));
  Machine box_ = machine(1, 24, 256);
  LayerSplit split_;
};

TEST_F(MappedExperts, AreReadFromDiskBeyondTheHostsMemory) {
  const Estimate all = with_ram(128);
  EXPECT_EQ(all.verdict, Verdict::fits_cpu_offload);
  EXPECT_EQ(all.disk_bytes, Bytes(0));
  const Estimate part = with_ram(48);
  EXPECT_EQ(part.verdict, Verdict::fits_disk_offload);
  EXPECT_EQ(part.gpu_bytes, all.gpu_bytes);
  EXPECT_EQ(part.cpu_bytes + part.disk_bytes, all.cpu_bytes);
  EXPECT_EQ(part.cpu_bytes, 48 * Bytes(gib)) << "the memory is full";
  // A token reads 2 of 8 experts, and this share of them from a disk of 3 GB/s.
  const double share = part.disk_bytes.real().value() / static_cast<double>(experts);
  const double read = share * static_cast<double>(experts) * 2 / 8;
  const double rate = 3e9 * engine("llama.cpp").offload.disk_bandwidth.value;
  EXPECT_NEAR(part.tpot.value() - all.tpot.value(), read / rate, 1e-3 * read / rate);
  EXPECT_GT(part.ttft.value(), all.ttft.value());
}

TEST_F(MappedExperts, MoreMemoryIsNeverWorse) {
  Estimate less = with_ram(4);
  for (Size ram = 5; ram <= 140; ++ram) {
    const Estimate more = with_ram(ram);
    EXPECT_LE(more.verdict, less.verdict) << ram;
    if (less.verdict < Verdict::does_not_fit) {
      EXPECT_LE(more.disk_bytes, less.disk_bytes) << ram;
      EXPECT_LE(more.tpot.value(), less.tpot.value()) << ram;
      EXPECT_LE(more.ttft.value(), less.ttft.value()) << ram;
    }
    less = more;
  }
  EXPECT_EQ(less.verdict, Verdict::fits_cpu_offload);
}

TEST_F(MappedExperts, ACopyHasToFit) {
  EXPECT_EQ(with_ram(128, false).verdict, Verdict::fits_cpu_offload);
  const Estimate copied = with_ram(48, false);
  EXPECT_EQ(copied.verdict, Verdict::does_not_fit);
  EXPECT_EQ(copied.reason, Reason::ram);
}

/// Whole layers leave host memory before tensors of layers on cards.
TEST_F(MappedExperts, LayersGoToDiskFirst) {
  split_.gpu_layers = 20;
  box_.host.ram = 60 * Bytes(gib);
  Scenario s = scenario(weights_, box_, "llama.cpp");
  s.layer_split = &split_;
  const Plan some = place(s, 1.0);
  EXPECT_TRUE(some.feasible());
  EXPECT_GT(some.on_disk.size(), 0);
  EXPECT_GT(some.on_cpu.size(), 0);
  EXPECT_EQ(some.kept_on_disk, Bytes(0));
  box_.host.ram = 30 * Bytes(gib);
  const Plan most = place(s, 1.0);
  EXPECT_TRUE(most.feasible());
  EXPECT_EQ(most.on_cpu.size(), 0);
  EXPECT_GT(most.kept_on_disk, Bytes(0));
  s.maps_files = false;
  EXPECT_EQ(place(s, 1.0).reason, Reason::ram);
}

/// A disk has to hold what is read from it.
TEST_F(MappedExperts, NeedTheDisk) {
  box_.host.disk = 10 * Bytes(gib);
  EXPECT_EQ(with_ram(48).reason, Reason::disk);
}

}  // namespace
}  // namespace headroom::model
