// A machine from what is detected on this computer.
#include <gtest/gtest.h>

#include "hardware/detect.hpp"
#include "hardware/machine.hpp"
#include "hardware/names.hpp"

namespace headroom {
namespace {

Detection found_one(const std::string& name, std::int64_t mebibytes) {
  Detection found;
  DetectedCard card;
  card.name = name;
  card.memory = mebibytes * Bytes(1 << 20);
  card.pcie_generation = 3;
  card.pcie_lanes = 8;
  found.cards.push_back(card);
  found.ram = Bytes(64'000'000'000);
  found.ram_limit = Bytes(16'000'000'000);
  found.disk_free = Bytes(100'000'000'000);
  found.cores = 8;
  return found;
}

TEST(LocalMachine, ReadingsOverrideTheCatalogue) {
  std::vector<std::string> assumed;
  const Machine machine =
      local_machine(found_one("NVIDIA GeForce RTX 4090", 24000), shipped_catalogue(), &assumed);
  EXPECT_EQ(machine.name, "1x rtx-4090 @ local");
  EXPECT_EQ(machine.devices[0].memory, 24000 * Bytes(1 << 20));
  EXPECT_NEAR(machine.host_bus(0).value(), 7.88e9, 0.01e9);  // PCIe 3.0 x8
  EXPECT_EQ(machine.host.ram, Bytes(16'000'000'000)) << "the control group's limit";
  EXPECT_EQ(machine.host.disk, Bytes(100'000'000'000));
  EXPECT_EQ(machine.host.cores, 8);
  EXPECT_GE(assumed.size(), 3u) << "RAM bandwidth, disk read and CPU peak are not detected";
}

TEST(LocalMachine, WhatADriverReservesOverridesTheCatalogue) {
  Detection found = found_one("NVIDIA GeForce RTX 4090", 24564);
  const auto seen = [&] {
    return usable_memory(local_machine(found, shipped_catalogue(), nullptr).devices[0]);
  };
  EXPECT_EQ(seen(), usable_memory(shipped_catalogue().device("rtx-4090")));
  found.cards[0].visible = 24100 * Bytes(1 << 20);
  EXPECT_EQ(seen(), 24100 * Bytes(1 << 20));
}

TEST(LocalMachine, MeasuredRatesOverrideAssumptions) {
  Detection found = found_one("Tesla T4", 15360);
  std::vector<std::string> without, with;
  local_machine(found, shipped_catalogue(), &without);
  found.ram_bandwidth = BytesPerSecond(33e9);
  found.disk_read = BytesPerSecond(2e9);
  const Machine machine = local_machine(found, shipped_catalogue(), &with);
  EXPECT_EQ(machine.host.ram_bandwidth, BytesPerSecond(33e9));
  EXPECT_FALSE(machine.ram_assumed);
  EXPECT_EQ(machine.host.disk_read, BytesPerSecond(2e9));
  EXPECT_EQ(with.size() + 2, without.size());
}

TEST(LocalMachine, APowerLimitIsTheCardsUnlessItsRowIsOfTheWholeBox) {
  Detection found = found_one("NVIDIA GeForce RTX 4090", 24564);
  found.cards[0].power_w = 350;
  const Machine desktop = local_machine(found, shipped_catalogue());
  EXPECT_EQ(desktop.devices[0].power_w, 350);
  EXPECT_EQ(desktop.host.power_w, 0);
  EXPECT_NE(desktop.host.power_unknown, "");
  found = found_one("NVIDIA GH200 480GB", 97871);
  found.cards[0].power_w = 700;
  const Machine superchip = local_machine(found, shipped_catalogue());
  EXPECT_EQ(superchip.devices[0].name, "gh200-96gb");
  EXPECT_EQ(superchip.devices[0].power_w, 1000) << "CPU, GPU and memory";
}

TEST(LocalMachine, ANameWithSeveralSizesIsSettledByTheReading) {
  const auto row = [](const char* name, std::int64_t mebibytes) {
    return local_machine(found_one(name, mebibytes), shipped_catalogue()).devices.at(0).name;
  };
  EXPECT_EQ(row("NVIDIA GeForce RTX 4060 Ti", 16380), "rtx-4060-ti-16gb");
  EXPECT_EQ(row("NVIDIA A100-SXM4-80GB", 81920), "a100-sxm-80gb");
  EXPECT_EQ(row("NVIDIA GeForce RTX 4060 Ti", 8188), "rtx-4060-ti-8gb");
  EXPECT_EQ(row("NVIDIA GeForce RTX 4090 Laptop GPU", 16376), "rtx-4090-laptop");
  EXPECT_THROW(row("NVIDIA GeForce RTX 4060 Ti", 12282), UnknownName);
  EXPECT_THROW(row("NVIDIA GeForce RTX 4090 Max-Q", 16376), UnknownName);
}

TEST(LocalMachine, WithoutCardsItIsACpu) {
  Detection none;
  none.ram = Bytes(8'000'000'000);
  const Machine machine = local_machine(none, shipped_catalogue());
  EXPECT_EQ(machine.name, "cpu @ local");
  EXPECT_TRUE(machine.devices.empty());
}

}  // namespace
}  // namespace headroom
