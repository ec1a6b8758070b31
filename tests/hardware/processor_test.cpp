// Processors: the shipped rows, the ways to name them, and the hosts that they are part of.
#include <gtest/gtest.h>

#include <algorithm>

#include "hardware/catalogue.hpp"
#include "hardware/detect.hpp"
#include "hardware/lint.hpp"
#include "hardware/machine.hpp"
#include "hardware/names.hpp"

namespace headroom {
namespace {

std::string named(std::string_view text) { return shipped_catalogue().processor(text).name; }

std::string refusal_of(std::string_view toml) {
  try {
    overlay(shipped_catalogue(), toml, "mine.toml");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

Host changed(const std::string& host, const std::string& cpu) {
  Host result = shipped_catalogue().host(host);
  exchange_processors(parse_sockets(cpu, shipped_catalogue()), shipped_catalogue(), result);
  return result;
}

TEST(Processor, FiguresThatDocumentsState) {
  const Processor& rome = shipped_catalogue().processor("epyc-7742");
  EXPECT_EQ(rome.cores, 64);
  EXPECT_DOUBLE_EQ(rome.base_clock_ghz, 2.25);
  EXPECT_DOUBLE_EQ(rome.peak.value(), 64 * 2.25e9 * 32);
  EXPECT_DOUBLE_EQ(rome.ram_bandwidth.value(), 8 * 8 * 3200e6);
  EXPECT_EQ(rome.power_w, 225);
  EXPECT_GE(shipped_catalogue().processors.size(), 90u);
}

TEST(Processor, FoundAsLinuxSpellsIt) {
  EXPECT_EQ(named("AMD EPYC 7742 64-Core Processor"), "epyc-7742");
  EXPECT_EQ(named("AMD EPYC 9654 96-Core Processor"), "epyc-9654");
  EXPECT_EQ(named("AMD Ryzen 9 7950X 16-Core Processor"), "ryzen-9-7950x");
  EXPECT_EQ(named("AMD Ryzen 7 7840U w/ Radeon  780M Graphics"), "ryzen-7-7840u");
  EXPECT_EQ(named("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S"), "ryzen-ai-max+-395");
  EXPECT_EQ(named("AMD Ryzen Threadripper PRO 7975WX 32-Cores"), "threadripper-pro-7975wx");
  EXPECT_EQ(named("Intel(R) Xeon(R) Platinum 8480+"), "xeon-platinum-8480+");
  EXPECT_EQ(named("Intel(R) Xeon(R) Platinum 8480C"), "xeon-platinum-8480c");
  EXPECT_EQ(named("INTEL(R) XEON(R) PLATINUM 8570"), "xeon-platinum-8570");
  EXPECT_EQ(named("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz"), "xeon-gold-6338");
  EXPECT_EQ(named("Intel(R) Xeon(R) w9-3495X"), "xeon-w9-3495x");
  EXPECT_EQ(named("13th Gen Intel(R) Core(TM) i9-13900K"), "core-i9-13900k");
  EXPECT_EQ(named("Intel(R) Core(TM) i9-14900K"), "core-i9-14900k");
  EXPECT_EQ(named("Intel(R) Core(TM) Ultra 9 285K"), "core-ultra-9-285k");
}

TEST(Processor, FoundAsPeopleSpellIt) {
  EXPECT_EQ(named("7950X"), "ryzen-9-7950x");
  EXPECT_EQ(named("AMD EPYC 9654"), "epyc-9654");
  EXPECT_EQ(named("Xeon Platinum 8480+"), "xeon-platinum-8480+");
  EXPECT_EQ(named("5800x3d"), "ryzen-7-5800x3d");
  EXPECT_EQ(named("i9 13900k"), "core-i9-13900k");
  EXPECT_EQ(named("NVIDIA Grace"), "grace");
  for (const Processor& row : shipped_catalogue().processors) {
    EXPECT_EQ(named(row.title), row.name);
    for (const std::string& alias : row.aliases) EXPECT_EQ(named(alias), row.name) << alias;
  }
}

TEST(Processor, NamesOfNoRowAndOfSeveralAreRefused) {
  // A virtual machine often hides the model; a part of a model's name is not that model.
  for (const char* name : {"", "AMD EPYC Processor", "Intel(R) Xeon(R) CPU @ 2.20GHz",
                           "Intel Xeon Processor (Skylake)", "QEMU Virtual CPU version 2.5+",
                           "Ryzen 9", "EPYC 765", "Ryzen 9 7950", "64-Core Processor"})
    EXPECT_THROW(named(name), UnknownName) << name;
  try {
    named("epyc-7743");
    FAIL();
  } catch (const UnknownName& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("unknown processor 'epyc-7743'"));
    EXPECT_NE(std::string(error.what()).find("epyc-7742"), std::string::npos) << error.what();
  }
}

TEST(Processor, ACountMayStandBeforeTheName) {
  const auto read = [](std::string_view text) {
    return parse_sockets(text, shipped_catalogue()).name();
  };
  EXPECT_EQ(read("2x epyc-7742"), "2x epyc-7742");
  EXPECT_EQ(read("2x AMD EPYC 7742"), "2x epyc-7742");
  EXPECT_EQ(read("epyc-9654"), "1x epyc-9654");
  EXPECT_EQ(read("5800X3D"), "1x ryzen-7-5800x3d");
  EXPECT_THROW(read("0x epyc-7742"), std::invalid_argument);
  EXPECT_THROW(read("17x epyc-7742"), std::invalid_argument);
  EXPECT_THROW(read("2x "), UnknownName);
}

TEST(Processor, AHostTakesItsFiguresFromTheRow) {
  const Host& dgx = shipped_catalogue().host("dgx-a100");
  EXPECT_EQ(dgx.cpu, "2x epyc-7742");
  EXPECT_EQ(dgx.cores, 128);
  EXPECT_EQ(dgx.sockets, 2);
  EXPECT_DOUBLE_EQ(dgx.cpu_peak.value(), 9.216e12);
  EXPECT_DOUBLE_EQ(dgx.ram_bandwidth.value(), 409.6e9);
  EXPECT_EQ(shipped_catalogue().host("epyc-milan-nvlink-bridge").cpu, "1x epyc-7763");
  EXPECT_EQ(shipped_catalogue().host("dual-epyc-120gb").cpu, "") << "a job of 4 cores";
  const Machine cluster = parse_machine("16x a100-sxm-80gb @ dgx-a100", shipped_catalogue());
  EXPECT_EQ(cluster.host.cpu, "4x epyc-7742");
}

TEST(Processor, RowsOfAUser) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
[[host]]
name = "attic"
based_on = "epyc-rome-512gb"
cpu = "2x attic-cpu"
power_w = 100
unchecked = ["power_w"]

[[host]]
name = "half-attic"
based_on = "attic"
cpu = "2x attic-cpu"
cores = 10
ram_bandwidth_gbs = 90

[[host]]
name = "other"
based_on = "attic"
cores = 12
cpu_tflops = 1

[[processor]]
name = "attic-cpu"
cores = 10
base_clock_ghz = 2
flops_a_cycle = 16
ram_bandwidth_gbs = 50
power_unknown = "found in the attic"
source = "the label"
unchecked = ["base_clock_ghz", "ram_bandwidth_gbs"]

[[processor]]
name = "attic-cpu-fast"
based_on = "attic-cpu"
base_clock_ghz = 3
)",
                                 "mine.toml");
  EXPECT_DOUBLE_EQ(mine.processor("attic-cpu-fast").peak.value(), 10 * 3e9 * 16);
  const Host& attic = mine.host("attic");
  EXPECT_EQ(attic.cores, 20);
  EXPECT_EQ(attic.sockets, 2);
  EXPECT_DOUBLE_EQ(attic.cpu_peak.value(), 640e9);
  EXPECT_DOUBLE_EQ(attic.ram_bandwidth.value(), 100e9);
  EXPECT_EQ(attic.unchecked, (std::vector<std::string>{"ram_bandwidth_gbs", "cpu_tflops", "power_w",
                                                       "disk_read_gbs", "cards"}));
  EXPECT_TRUE(attic.source.starts_with("CPU as attic-cpu: the label; ")) << attic.source;
  const Host& half = mine.host("half-attic");
  EXPECT_EQ(half.cores, 10);
  EXPECT_DOUBLE_EQ(half.cpu_peak.value(), 320e9) << "of the cores that the row gives";
  EXPECT_DOUBLE_EQ(half.ram_bandwidth.value(), 90e9);
  EXPECT_EQ(std::ranges::count(half.unchecked, "ram_bandwidth_gbs"), 0);
  EXPECT_EQ(mine.host("other").cpu, "") << "cores of its own are of no row";
}

TEST(Processor, BadRowsAreRefused) {
  const std::string head = "[[processor]]\nname = \"x\"\ncores = 8\nram_bandwidth_gbs = 50\n";
  const std::string clock = "base_clock_ghz = 3\n", flops = "flops_a_cycle = 32\n";
  EXPECT_EQ(refusal_of(head + clock + flops), "accepted");
  EXPECT_EQ(refusal_of(head + "cpu_tflops = 1\n"), "accepted");
  EXPECT_NE(refusal_of(head + clock).find("key 'cpu_tflops': missing"), std::string::npos);
  for (const std::string& bad :
       {head, head + flops, head + clock + flops + "cpu_tflops = 1\n", head + clock + "flops = 1\n",
        std::string("[[processor]]\nname = \"x\"\ncores = 1.5\nram_bandwidth_gbs = 50\n") + clock +
            flops,
        std::string("[[processor]]\nname = \"x\"\nbased_on = \"grace\"\ncores = 36\n")})
    EXPECT_NE(refusal_of(bad), "accepted") << bad;
  const std::string wrong =
      refusal_of("[[host]]\nname = \"x\"\nbased_on = \"laptop-16gb\"\ncpu = \"epyc-7743\"\n");
  EXPECT_NE(wrong.find("mine.toml:4: key 'cpu'"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("epyc-7742"), std::string::npos) << wrong;
}

TEST(Processor, ExchangedInAHostItsPowerFollows) {
  const Host dgx = changed("dgx-a100", "2x epyc-9654");
  EXPECT_EQ(dgx.cpu, "2x epyc-9654");
  EXPECT_EQ(dgx.cores, 192);
  EXPECT_DOUBLE_EQ(dgx.power_w, 3300 - 2 * 225 + 2 * 360);
  EXPECT_EQ(dgx.power_unknown, "");
  const Host cloud = changed("epyc-rome-512gb", "graviton4");
  EXPECT_EQ(cloud.power_w, 0);
  EXPECT_EQ(cloud.power_unknown, "graviton4: AWS states no power");
  Host unknown = shipped_catalogue().host("dgx-a100");
  unknown.cpu.clear();
  exchange_processors(parse_sockets("epyc-9654", shipped_catalogue()), shipped_catalogue(),
                      unknown);
  EXPECT_EQ(unknown.power_w, 0);
  EXPECT_NE(unknown.power_unknown.find("processors of dgx-a100"), std::string::npos);
}

TEST(Processor, TheDetectedOneGivesTheRateOfACore) {
  Detection found;
  found.cores = 4;
  found.cpu = "AMD EPYC 9755 128-Core Processor";
  std::vector<std::string> assumed;
  const Machine known = local_machine(found, shipped_catalogue(), &assumed);
  EXPECT_DOUBLE_EQ(known.host.cpu_peak.value(), 4 * 2.7e9 * 64);
  EXPECT_EQ(known.host.cpu, "");
  EXPECT_NE(std::ranges::find(assumed, "CPU peak: 4 cores at the rate of epyc-9755's"),
            assumed.end());
  found.cpu = "AMD EPYC Processor";
  assumed.clear();
  EXPECT_DOUBLE_EQ(local_machine(found, shipped_catalogue(), &assumed).host.cpu_peak.value(),
                   4 * 4.5e9 * 32);
  EXPECT_NE(std::ranges::find(assumed, "CPU peak: 4 cores at the rate of desktop-ddr5-64gb's"),
            assumed.end());
}

TEST(Processor, LintFindsFiguresOutOfProportion) {
  const auto findings = [](auto change) {
    Catalogue catalogue;
    catalogue.processors.push_back(shipped_catalogue().processor("epyc-7742"));
    change(catalogue.processors[0]);
    return lint(catalogue);
  };
  EXPECT_TRUE(findings([](Processor&) {}).empty());
  const auto finds = [&](auto change, std::string_view part) {
    const auto all = findings(change);
    ASSERT_EQ(all.size(), 1u) << part;
    EXPECT_TRUE(all[0].starts_with("epyc-7742: ")) << all[0];
    EXPECT_NE(all[0].find(part), std::string::npos) << all[0];
  };
  finds([](Processor& row) { row.base_clock_ghz = 2250; }, "base clock");
  finds([](Processor& row) { row.peak = FlopsPerSecond(4608e12); }, "peak of a core");
  finds([](Processor& row) { row.flops_a_cycle = 512; }, "operations a cycle");
  finds([](Processor& row) { row.ram_bandwidth = BytesPerSecond(20e9); }, "bandwidth of a core");
  finds([](Processor& row) { row.power_w = 22500; }, "power of a core");
  finds([](Processor& row) { row.power_w = 0; }, "no power");
  finds([](Processor& row) { row.source.clear(); }, "no source");
  Catalogue twins;
  twins.processors.assign(2, shipped_catalogue().processor("epyc-7742"));
  twins.processors[1].name = "AMD-7742-EPYC";
  EXPECT_EQ(lint(twins).size(), 1u) << "two names of one spelling";
}

}  // namespace
}  // namespace headroom
