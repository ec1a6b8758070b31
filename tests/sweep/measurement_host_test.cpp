// Hosts, and where weights are, as sources of measurements write them.
#include <gtest/gtest.h>

#include "model/infer/placement/placement.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {
namespace {

Measurement row(std::initializer_list<std::pair<std::string, std::string>> fields) {
  Measurement m;
  for (const auto& [key, value] : fields) m.fields[key] = value;
  m.settings = settings_of(m["settings"]);
  return m;
}
Host host(const std::string& cpu, const std::string& settings = "") {
  return host_of(row({{"cpu", cpu}, {"settings", settings}}));
}

/// Channels * transfers a second * 8 bytes, of all sockets.
TEST(HostOf, MemoryThatIsStatedCountsMoreThanTheProcessors) {
  const Host two = host("2 x AMD EPYC 9135; 24x DDR5-6400");
  EXPECT_NEAR(two.ram_bandwidth.value(), 24 * 6400e6 * 8, 1);
  EXPECT_EQ(two.sockets, 2);
  EXPECT_EQ(two.cores, 32);
  EXPECT_NEAR(host("AMD EPYC 9654", "experts on CPU;12x DDR5-4800").ram_bandwidth.value(),
              12 * 4800e6 * 8, 1);
  // Two channels are the processor's.
  EXPECT_NEAR(host("Core i9-13900K; DDR5-6000").ram_bandwidth.value(), 2 * 6000e6 * 8, 1);
  EXPECT_NEAR(host("Ryzen 7 5800X").ram_bandwidth.value(), 2 * 3200e6 * 8, 1);
}

TEST(HostOf, SaysWhetherTheMemoryIsStated) {
  const auto stated = [](const std::string& cpu, const std::string& settings) {
    return states_memory_bandwidth(row({{"cpu", cpu}, {"settings", settings}}));
  };
  EXPECT_TRUE(stated("Core i9-13900K; DDR5-6000", ""));
  EXPECT_TRUE(stated("AMD EPYC 9654", "experts on CPU;12x DDR5-4800"));
  EXPECT_TRUE(stated("AMD EPYC 9374F; measured 360 GB/s", ""));
  EXPECT_FALSE(stated("Ryzen 7 5800X", "32 threads"));
  EXPECT_FALSE(stated("Ryzen 7 5800X; DDR4", ""));
}

/// 12 channels of DDR5-4800 transfer 460.8 GB/s, of which fairydreaming reads 360 (llama.cpp pull
/// request 26622); four of DDR4-3200 102.4.
TEST(HostOf, WhatABenchmarkReachesIsOfModulesOfTheLeastRateThatHasIt) {
  EXPECT_NEAR(host("AMD EPYC 9374F; measured 360 GB/s").ram_bandwidth.value(), 460.8e9, 1);
  EXPECT_NEAR(host("Core i9-10900X; measured 102 GB/s quad-channel DDR4").ram_bandwidth.value(),
              102.4e9, 1);
  EXPECT_NEAR(host("Some CPU 9000; measured 102 GB/s").ram_bandwidth.value(), 102e9, 1);
}

TEST(HostOf, AProcessorThatNoTableHasIsReadByItsMemory) {
  const Host known = host("Some CPU 9000; 8 channels DDR4-3200");
  EXPECT_NEAR(known.ram_bandwidth.value(), 8 * 3200e6 * 8, 1);
  EXPECT_EQ(known.cpu_peak.value(), 0);
  EXPECT_EQ(host("Some CPU 9000").ram_bandwidth.value(), 0);
}

TEST(HostOf, Sockets) {
  EXPECT_EQ(host("2x Xeon Gold 6454S (32c each)").sockets, 2);
  EXPECT_EQ(host("Xeon Gold 6454S 32c/socket").sockets, 1);
  EXPECT_EQ(
      host("Xeon Gold 6454S 32c/socket", "framework=dual socket ktransformers 8 experts").sockets,
      2);
  EXPECT_EQ(host("Xeon Gold 6454S 32c/socket", "framework=llama.cpp 8 experts 2x32 cores").sockets,
            2);
}

TEST(HostOf, Disks) {
  const auto rate = [](const std::string& settings, const std::string& cpu = "") {
    return host(cpu, settings).disk_read.value();
  };
  EXPECT_NEAR(rate("loader=SafeTensors;NVMe SSD 29.4 GB/s"), 29.4e9, 1);
  EXPECT_NEAR(rate("", "Lambda workstation; CS3040 NVMe 5600MB/s"), 5.6e9, 1);
  EXPECT_NEAR(rate("framework=sglang;3x PCIe 4.0 NVMe"), 21e9, 1);
  EXPECT_NEAR(rate("SATA SSD"), 0.55e9, 1);
  EXPECT_EQ(rate("framework=vLLM"), 0);
  EXPECT_EQ(rate("", "GCP instance; 1.5TB SSD"), 0);
}

struct Read {
  explicit Read(const std::string& settings, const std::string& model = "Qwen/Qwen3-30B-A3B",
                const std::string& precision = "Q4_K_M")
      : written(row({{"model", model},
                     {"precision", precision},
                     {"task", "decode"},
                     {"category", "offload_speed"},
                     {"gpu", "RTX 4090"},
                     {"gpu_count", "1"},
                     {"cpu", "Ryzen 9 7950X"},
                     {"prompt_len", "512"},
                     {"output_len", "128"},
                     {"quantity", "decode_speed"},
                     {"unit", "tokens/s"},
                     {"value", "30.5"},
                     {"grade", "A"},
                     {"settings", settings}})),
        subjects(""),
        subject(subjects.subject(written)) {}
  double on_host() const {
    const model::LayerSplit* split = subject.scenario.layer_split;
    if (split == nullptr || split->on_host.bytes_before.empty()) return 0;
    return split->on_host.bytes_before.back().real().value();
  }
  Measurement written;
  Subjects subjects;
  ScoredRow subject;
};

/// Three matrices an expert, 128 experts in each of 48 alike layers: what stays in host memory goes
/// by the layers.
TEST(SubjectOf, ExpertsInHostMemory) {
  const Read all("framework=llama.cpp;-ngl 99 --cpu-moe");
  EXPECT_GT(all.on_host(), 15e9);
  EXPECT_EQ(all.subject.scenario.layer_split->gpu_layers, 49);
  const double some = Read("framework=llama.cpp;ngl=99;n_cpu_moe=24").on_host();
  EXPECT_NEAR(some, all.on_host() / 2, 0.02 * all.on_host());
  EXPECT_EQ(Read("framework=llama.cpp;-ngl 99 --n-cpu-moe 24;WSL2").on_host(), some);
  EXPECT_NEAR(Read("framework=llama.cpp;ngl=99;-ot exps=CPU").on_host(), all.on_host(),
              1e-3 * all.on_host());
  EXPECT_EQ(Read("framework=llama.cpp;ngl=99").on_host(), 0);
  EXPECT_THROW(Read("framework=llama.cpp;ngl=99;-ot nothing=CPU"), Skipped);
}

/// kvcache-ai/ktransformers: experts are on the CPU unless a number of them is on the card.
TEST(SubjectOf, ExpertsThatStayThere) {
  const double all = Read("framework=llama.cpp;-ngl 99 --cpu-moe").on_host();
  EXPECT_EQ(Read("framework=ktransformers v0.2.1").on_host(), all);
  EXPECT_NEAR(Read("framework=kt-kernel+sglang;32 of 128 experts on the card").on_host(),
              0.75 * all, 1e3);
}

/// FMInference/FlexGen flex_opt.py: of 20 % each layer's last matrix of attention is on the card, a
/// twelfth of OPT's; --gpu-batch-size x --num-gpu-batches; the caches of 0 100 in host memory.
TEST(SubjectOf, FlexGensPolicies) {
  const auto read = [](const std::string& settings) {
    const std::string all = "framework=FlexGen;" + settings;
    return Read(all, "OPT-6.7B", "fp16");
  };
  const auto on_card = [&](const std::string& settings) {
    const Read r = read(settings);
    EXPECT_EQ(r.subject.group, "offload_streamed");
    return place(r.subject.scenario, 1.0).on_cards.size();
  };
  EXPECT_EQ(on_card("--percent 0 100 100 0 100 0"), 0);
  EXPECT_EQ(on_card("--percent 20 80 100 0 100 0"), 3);
  EXPECT_EQ(on_card("--percent 50 50 100 0 100 0"), 16);
  EXPECT_EQ(read("--percent 20 80 0 100 0 100;gbs=48x3").subject.scenario.batch_parts, 3);
  EXPECT_EQ(read("--percent 20 80 0 100 0 100").subject.scenario.batch_parts, 1);
  EXPECT_FALSE(read("--percent 20 80 0 100 0 100").subject.scenario.layer_split->cache_on_cards);
  EXPECT_THROW(read("--percent 20 80 0 100 0 100 --cpu"), Skipped);  // attention there
}

TEST(SubjectOf, LayersOnTheCard) {
  const auto layers = [](const std::string& settings) {
    return Read(settings, "Llama-2-7B").subject.scenario.layer_split->gpu_layers;
  };
  EXPECT_EQ(layers("framework=llama.cpp;ngl=13 of 33"), 13);
  EXPECT_EQ(layers("framework=ollama 0.23.1;num_gpu=0"), 0);
  EXPECT_EQ(layers("framework=ollama 0.23.1;auto, 30/33 layers on GPU"), 30);
}

}  // namespace
}  // namespace headroom::sweep
