// Parses machines as people write them, and builds machines from a specification alone.
#include "hardware/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hardware/names.hpp"
#include "hardware/text.hpp"

namespace headroom {
namespace {

Machine parsed(std::string_view text) { return parse_machine(text, shipped_catalogue()); }

TEST(Machine, CardsInAHost) {
  const Machine machine = parsed("2x a100-sxm-40gb @ dual-epyc-120gb");
  EXPECT_EQ(machine.name, "2x a100-sxm-40gb @ dual-epyc-120gb");
  ASSERT_EQ(machine.devices.size(), 2u);
  EXPECT_EQ(machine.devices[1].memory, 40960 * Bytes(1 << 20));
  EXPECT_EQ(machine.host.ram, Bytes(120'000'000'000));
  EXPECT_FALSE(machine.host_assumed);
  EXPECT_FALSE(machine.ram_assumed);
}

TEST(Machine, WithoutAHostItSitsInTheStatedDefault) {
  const Machine machine = parsed("rtx-4090");
  EXPECT_EQ(machine.devices.size(), 1u);
  EXPECT_TRUE(machine.host_assumed);
  EXPECT_TRUE(machine.ram_assumed);
  EXPECT_TRUE(parsed(machine.name).ram_assumed) << "typed or not, it is one machine";
  EXPECT_FALSE(parsed("8x h100-sxm-80gb").ram_assumed);
  EXPECT_EQ(machine.host.name, shipped_catalogue().default_host);
  EXPECT_EQ(machine.name, "1x rtx-4090 @ " + shipped_catalogue().default_host);
  EXPECT_EQ(parsed("8x h100-sxm-80gb").host.name, "dgx-h100");  // a card's usual host
  EXPECT_EQ(parsed("h100-sxm-80gb @ laptop-16gb").host.name, "laptop-16gb");
}

TEST(Machine, NamesRoundTrip) {
  for (const char* text : {"4x h100-sxm-80gb @ epyc-genoa-768gb", "cpu @ laptop-16gb",
                           "1x rtx-4090 + 1x rtx-3090 @ desktop-ddr4-32gb"}) {
    EXPECT_EQ(parsed(text).name, text);
    EXPECT_EQ(parsed(parsed(text).name).name, text);
  }
}

TEST(Machine, SpellingsAreForgiven) {
  EXPECT_EQ(parsed(" 2 x  RTX 4090@desktop-ddr4-32gb").name, "2x rtx-4090 @ desktop-ddr4-32gb");
  EXPECT_EQ(parsed("2xrtx-4090").devices.size(), 2u);
  EXPECT_EQ(parsed("rtx-4090 + rtx-4090").name, parsed("2x rtx-4090").name);
  EXPECT_EQ(parsed("2x-rtx-4090").name, parsed("2x rtx-4090").name);
  for (const char* behind : {"rtx 4090 x2", "4090x2", "rtx-4090 X 2 "})
    EXPECT_EQ(parsed(behind).name, parsed("2x rtx-4090").name) << behind;
  EXPECT_THROW(parsed("rtx 4090 x0"), std::invalid_argument);
  EXPECT_EQ(parsed("7900xtx").name, parsed("1x rx-7900-xtx").name) << "no 7900 cards";
  EXPECT_TRUE(parsed("CPU").devices.empty());
}

TEST(Machine, ABoxOfSeveralProductsIsNoMachine) {
  EXPECT_EQ(parsed("strix-halo").devices.at(0).name, "radeon-8060s-128gb") << "sizes of one chip";
  EXPECT_EQ(parsed("Strix Halo").devices.at(0).name, "radeon-8060s-128gb") << "as people type it";
  EXPECT_EQ(parsed("AMD Ryzen AI Max+ 395").devices.at(0).name, "radeon-8060s-128gb");
  EXPECT_EQ(parsed("4090+4090").devices.size(), 2u) << "a sum, not a name";
  EXPECT_THROW(parsed("mac"), std::invalid_argument);
}

TEST(Machine, MixedCardsKeepTheirOrder) {
  const Machine machine = parsed("1x rtx-3090 + 2x rtx-4090 + rtx-3090 @ epyc-rome-512gb");
  ASSERT_EQ(machine.devices.size(), 4u);
  EXPECT_EQ(machine.devices[0].name, "rtx-3090");
  EXPECT_EQ(machine.devices[2].name, "rtx-4090");
  EXPECT_TRUE(machine.name.starts_with("1x rtx-3090 + 2x rtx-4090 + 1x rtx-3090 @"));
}

TEST(Machine, CountsFrom1To1024) {
  EXPECT_EQ(parsed("1024x t4").devices.size(), 1024u);
  for (const char* bad : {"0x t4", "1025x t4", "99999999999999999999x t4", "1000x t4 + 25x t4"})
    EXPECT_THROW(parsed(bad), std::invalid_argument) << bad;
}

TEST(Machine, RefusesInvalidMachines) {
  for (const char* bad : {"", " ", "@ laptop-16gb", "t4 @", "t4 @ laptop-16gb @ laptop-16gb",
                          "t4 +", "+ t4", "2x", "local @ laptop-16gb"})
    EXPECT_THROW(parsed(bad), std::invalid_argument) << bad;
  for (const char* bad : {"t5", "-1x t4", "t4 @ nowhere", "a100-40gb", "4091", "cpu + t4", "2 t4"})
    EXPECT_THROW(parsed(bad), UnknownName) << bad;
}

TEST(Machine, BusesAreAsWideAsTheirNarrowestPart) {
  // H100: PCIe 5.0 x16 (63 GB/s) in a board with PCIe 4.0 x16 (31.5 GB/s), and in its usual board.
  EXPECT_NEAR(parsed("h100-pcie @ epyc-rome-512gb").host_bus(0).value(), 31.5e9, 0.1e9);
  EXPECT_NEAR(parsed("h100-pcie @ dgx-h100").host_bus(0).value(), 63e9, 0.1e9);
  EXPECT_NEAR(parsed("t4 @ dgx-h100").host_bus(0).value(), 15.75e9, 0.1e9);
}

TEST(Machine, CardsTalkOverTheirLinkOrTheHostBus) {
  EXPECT_DOUBLE_EQ(parsed("8x h100-sxm-80gb @ dgx-h100").card_link(8).rate.value(), 450e9);
  EXPECT_NEAR(parsed("2x rtx-4090 @ epyc-rome-512gb").card_link(2).rate.value(), 31.5e9, 0.1e9);
  // A card without NVLink, or with another generation, leaves the bus only.
  const CardLink mixed = parsed("h100-sxm-80gb + a100-sxm-80gb @ dgx-h100").card_link(2);
  EXPECT_NEAR(mixed.rate.value(), 31.5e9, 0.1e9);
  EXPECT_EQ(parsed("cpu").card_link(2).rate.value(), 0);
  Machine bridged = parsed("2x rtx-3090 @ epyc-rome-512gb");
  bridged.host.card_link = BytesPerSecond(56.25e9);
  EXPECT_DOUBLE_EQ(bridged.card_link(2).rate.value(), 56.25e9);
}

TEST(Machine, ALinkIsTheCardsOwnIfItIsFasterThanTheBus) {
  EXPECT_EQ(parsed("8x h100-sxm-80gb @ dgx-h100").card_link(8).path, LinkPath::own);
  EXPECT_EQ(parsed("2x rtx-4090").card_link(2).path, LinkPath::host_memory);
  EXPECT_EQ(parsed("2x rtx-pro-6000-blackwell").card_link(2).path, LinkPath::bus);
  EXPECT_EQ(parsed("2x rtx-3090 @ desktop-nvlink-bridge").card_link(2).path, LinkPath::own);
  Machine slow = parsed("2x rtx-3090 @ epyc-rome-512gb");
  slow.host.card_link = BytesPerSecond(16e9);
  EXPECT_EQ(slow.card_link(2).path, LinkPath::host_memory);
}

/// NVIDIA's driver refuses it to GeForce cards since the series 20, and to cards of two kinds.
TEST(Machine, CardsWithoutPeerAccessMeetInTheHostsMemory) {
  const auto path = [](const char* machine) { return parsed(machine).card_link(2).path; };
  for (const char* cards : {"2x rtx-2080-ti", "2x rtx-3090", "2x rtx-5060-ti-16gb", "4x a10g",
                            "1x rtx-4090 + 1x rtx-a6000"})
    EXPECT_EQ(path(cards), LinkPath::host_memory) << cards;
  for (const char* cards : {"2x rtx-a6000", "2x rtx-6000-ada", "4x l40s", "2x t4", "2x gtx-1080-ti",
                            "2x a100-pcie-80gb"})
    EXPECT_EQ(path(cards), LinkPath::bus) << cards;
}

TEST(Machine, ManyCardsNeedSeveralBoxes) {
  const Machine one = parsed("8x h100-sxm-80gb @ dgx-h100"), two = parsed("9x h100-sxm-80gb");
  EXPECT_EQ(one.host.boxes, 1);
  EXPECT_EQ(two.host.boxes, 2);
  EXPECT_EQ(two.host.ram, 2 * one.host.ram);
  EXPECT_EQ(two.host.cores, 2 * one.host.cores);
  EXPECT_DOUBLE_EQ(two.host.power_w, 2 * one.host.power_w);
  // NVLink within a box, an eighth of 8 x 400 Gbit/s beyond it.
  EXPECT_DOUBLE_EQ(two.card_link(8).rate.value(), 450e9);
  EXPECT_DOUBLE_EQ(two.card_link(9).rate.value(), 50e9);
  EXPECT_EQ(two.card_link(8).path, LinkPath::own);
  EXPECT_EQ(two.card_link(9).path, LinkPath::network);
  EXPECT_EQ(parsed("12x rtx-4090 @ epyc-rome-512gb").host.boxes, 2);
}

TEST(Machine, ACardThatSharesMemorySettlesTheHosts) {
  const Machine mac = parsed("m2-ultra-192gb");
  EXPECT_EQ(mac.host.name, "mac-studio");
  EXPECT_EQ(mac.host.ram, 192 * Bytes(1 << 30));
  EXPECT_EQ(parsed("m2-ultra-64gb @ mac-studio").host.ram, 64 * Bytes(1 << 30));
  EXPECT_EQ(mac.host.ram_bandwidth, 0.6 * mac.devices[0].bandwidth);
  EXPECT_THROW(parsed("2x m2-ultra-192gb"), std::invalid_argument);
  EXPECT_THROW(parsed("m2-ultra-192gb + rtx-4090"), std::invalid_argument);
}

MachineSpecification seed() {
  MachineSpecification spec;
  spec.gpu_memory = Bytes(8'000'000'000);
  spec.gpu_bandwidth = BytesPerSecond(272e9);
  spec.ram = Bytes(32'000'000'000);
  spec.disk = Bytes(500'000'000'000);
  return spec;
}

TEST(Specification, GivenValuesOverride) {
  const Machine machine = specified_machine(seed(), shipped_catalogue());
  ASSERT_EQ(machine.devices.size(), 1u);
  EXPECT_EQ(machine.devices[0].memory, Bytes(8'000'000'000));
  EXPECT_EQ(machine.devices[0].bandwidth, BytesPerSecond(272e9));
  EXPECT_EQ(machine.host.ram, Bytes(32'000'000'000));
  EXPECT_EQ(machine.host.disk, Bytes(500'000'000'000));
}

TEST(Specification, MissingValuesAreListed) {
  std::vector<std::string> assumed;
  MachineSpecification spec = seed();
  const Machine machine = specified_machine(spec, shipped_catalogue(), &assumed);
  const auto lists = [&](std::string_view what) {
    return std::ranges::any_of(assumed, [&](const auto& each) { return contains(each, what); });
  };
  EXPECT_TRUE(lists("GPU peak")) << "and it is of the order of real cards";
  EXPECT_GT(machine.devices[0].peak(Arithmetic::bf16).value(), 10e12);
  EXPECT_LT(machine.devices[0].peak(Arithmetic::bf16).value(), 100e12);
  EXPECT_TRUE(lists("RAM at"));
  EXPECT_TRUE(lists("disk at"));
  EXPECT_FALSE(lists("RAM 6"));
  EXPECT_FALSE(lists("disk 1"));
  EXPECT_TRUE(lists("GPU peak"));
  spec.gpu_flops = FlopsPerSecond(60e12);
  assumed.clear();
  EXPECT_EQ(
      specified_machine(spec, shipped_catalogue(), &assumed).devices[0].peak(Arithmetic::fp16),
      FlopsPerSecond(60e12));
  EXPECT_FALSE(lists("GPU peak"));
  EXPECT_TRUE(lists("GPU: NVIDIA, as ")) << "engines need a maker";
}

TEST(Specification, ACardOfTheFiguresOfAnotherHasItsOtherRates) {
  const Device known = shipped_catalogue().device("rtx-4080");
  MachineSpecification spec;
  spec.gpu_memory = known.memory;
  spec.gpu_bandwidth = known.bandwidth;
  spec.gpu_flops = known.peak(Arithmetic::bf16);
  const Machine machine = specified_machine(spec, shipped_catalogue());
  for (const Arithmetic each : {Arithmetic::int8, Arithmetic::fp8, Arithmetic::fp4})
    EXPECT_DOUBLE_EQ(machine.devices[0].peak(each).value(), known.peak(each).value());
}

/// More memory at the same rates must not make a card an older one, which engines run more slowly.
TEST(Specification, TheGenerationDoesNotDependOnTheSize) {
  MachineSpecification spec;
  spec.gpu_bandwidth = BytesPerSecond(1e12);
  spec.gpu_flops = FlopsPerSecond(150e12);
  const auto card = [&](Size gib) {
    spec.gpu_memory = Bytes(gib << 30);
    return specified_machine(spec, shipped_catalogue()).devices.front();
  };
  const Device small = card(8);
  EXPECT_TRUE(small.fp8);  // an RTX 4090 is nearest
  for (const Size gib : {16, 24, 32, 48, 80, 141}) {
    EXPECT_EQ(card(gib).compute_capability, small.compute_capability) << gib;
    EXPECT_EQ(card(gib).fp8, small.fp8) << gib;
  }
}

TEST(Specification, AnAssumedBandwidthWidensTimes) {
  MachineSpecification spec;
  spec.gpu_memory = Bytes(24'000'000'000);
  std::vector<std::string> assumed;
  const Machine machine = specified_machine(spec, shipped_catalogue(), &assumed);
  ASSERT_TRUE(machine.card_assumed);
  EXPECT_LT(machine.card_assumed->low, 0.9);
  EXPECT_GT(machine.card_assumed->high, 1.1);
  EXPECT_TRUE(std::ranges::any_of(assumed, [](const auto& each) {
    return contains(each, "cards sold with 24 GB show 23.5 GiB");
  }));
  spec.gpu_bandwidth = BytesPerSecond(1e12);
  EXPECT_FALSE(specified_machine(spec, shipped_catalogue()).card_assumed);
}

TEST(Specification, BandwidthLeftOutIsThatOfCardsAsLarge) {
  const auto card = [](double gib, double gigabytes_s, double teraflops) {
    Device device;
    device.memory = Bytes(std::llround(gib * (1 << 30)));
    device.bandwidth = BytesPerSecond(gigabytes_s * 1e9);
    device.bf16 = FlopsPerSecond(teraflops * 1e12);
    return device;
  };
  Catalogue catalogue = shipped_catalogue();
  catalogue.devices = {card(8, 200, 10), card(7.9, 300, 60), card(7.5, 400, 40),
                       card(80, 2000, 300)};
  std::vector<std::string> assumed;
  MachineSpecification spec = seed();
  spec.gpu_bandwidth.reset();
  const Device without = specified_machine(spec, catalogue, &assumed).devices[0];
  EXPECT_EQ(without.bandwidth, BytesPerSecond(300e9)) << "8 GB are 7.45 GiB";
  EXPECT_EQ(without.bf16, FlopsPerSecond(40e12)) << "the median of the peaks";
  EXPECT_TRUE(
      std::ranges::find(assumed, "GPU: 300 GB/s and 40 TFLOPS, the median of 3 cards as large") !=
      assumed.end());
  spec.gpu_flops = FlopsPerSecond(60e12);
  const Device with_peak = specified_machine(spec, catalogue).devices[0];
  EXPECT_EQ(with_peak.bandwidth, BytesPerSecond(300e9));
  EXPECT_EQ(with_peak.bf16, FlopsPerSecond(60e12));
  spec.gpu_memory = 100 * Bytes(1 << 30);
  EXPECT_EQ(specified_machine(spec, catalogue).devices[0].bandwidth, BytesPerSecond(2e12));
}

TEST(Specification, RequiredValuesMustBePositive) {
  const auto refuse = [](auto change) {
    MachineSpecification spec = seed();
    change(spec);
    EXPECT_THROW(specified_machine(spec, shipped_catalogue()), std::invalid_argument);
  };
  refuse([](auto& spec) { spec.gpu_memory.reset(); });
  refuse([](auto& spec) { spec.gpu_memory = Bytes(0); });
  refuse([](auto& spec) { spec.gpu_bandwidth = BytesPerSecond(-1); });
  refuse([](auto& spec) { spec.ram = Bytes(0); });
  refuse([](auto& spec) { spec.disk_read = BytesPerSecond(0); });
  refuse([](auto& spec) { spec.count = 0; });
  refuse([](auto& spec) { spec.count = 1025; });
}

TEST(MachineNames, HaveCardsOfAKind) {
  EXPECT_EQ(cards_in_name("8x h100-sxm-80gb @ dgx-h100"), "8x h100-sxm-80gb");
  EXPECT_EQ(kind_in_name("8x h100-sxm-80gb @ dgx-h100"), "h100-sxm-80gb");
  EXPECT_EQ(kind_in_name("h100-sxm-80gb"), "h100-sxm-80gb");
  EXPECT_EQ(kind_in_name("1x rtx-4090 + 1x rtx-3090 @ desktop-ddr5-64gb"),
            "1x rtx-4090 + 1x rtx-3090");
}

}  // namespace
}  // namespace headroom
