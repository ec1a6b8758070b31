// The shipped catalogue has no findings, and each rule finds its error.
#include "hardware/lint.hpp"

#include <gtest/gtest.h>

namespace headroom {
namespace {

TEST(Lint, TheShippedCatalogueIsClean) {
  for (const std::string& finding : lint(shipped_catalogue())) ADD_FAILURE() << finding;
}

/// Findings for a good row after `change`.
template <class Change>
std::vector<std::string> found(Change change) {
  Device device = shipped_catalogue().device("a100-sxm-80gb");
  change(device);
  Catalogue catalogue;
  catalogue.devices.push_back(device);
  catalogue.hosts = shipped_catalogue().hosts;
  return lint(catalogue);
}

void expect_finding(const std::vector<std::string>& findings, std::string_view part) {
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("a100-sxm-80gb: ")) << findings[0];
  EXPECT_NE(findings[0].find(part), std::string::npos) << findings[0];
}

TEST(Lint, AGoodRowIsClean) {
  EXPECT_TRUE(found([](Device&) {}).empty());
}

TEST(Lint, SparsePeaksGivenAsDense) {
  expect_finding(found([](Device& row) { row.bf16 = FlopsPerSecond(624e12); }), "bf16 is 2 times");
  expect_finding(found([](Device& row) { row.tf32 = FlopsPerSecond(312e12); }), "tf32 is 1 times");
  expect_finding(found([](Device& row) { row.int8 = FlopsPerSecond(2496e12); }), "int8 is 8 times");
  expect_finding(found([](Device& row) { row.fp4 = FlopsPerSecond(2496e12); }), "fp4 is 4 times");
}

TEST(Lint, FiguresOutOfProportion) {
  expect_finding(found([](Device& row) { row.memory = Bytes(8'000'000'000'000); }),
                 "read all memory");
  EXPECT_FALSE(found([](Device& row) { row.bandwidth = BytesPerSecond(300e12); }).empty());
  expect_finding(found([](Device& row) { row.host_bus = BytesPerSecond(9e12); }), "host bus");
  expect_finding(found([](Device& row) { row.power_w = 40000; }), "power");
  expect_finding(found([](Device& row) { row.link_kind.clear(); }), "go together");
}

TEST(Lint, MissingSourcesDatesAndHosts) {
  expect_finding(found([](Device& row) { row.source.clear(); }), "no source");
  expect_finding(found([](Device& row) { row.date.clear(); }), "no date");
  expect_finding(found([](Device& row) { row.host = "nowhere"; }), "nowhere");
}

TEST(Lint, APowerOrTheReasonWhyNoneIsKnown) {
  expect_finding(found([](Device& row) { row.power_w = 0; }), "power_unknown");
  EXPECT_TRUE(found([](Device& row) {
                row.power_w = 0;
                row.power_unknown = "nobody has measured it";
              }).empty());
  Catalogue catalogue;
  catalogue.hosts.push_back(shipped_catalogue().host("dgx-a100"));
  EXPECT_TRUE(lint(catalogue).empty());
  catalogue.hosts[0].power_w = 0;
  ASSERT_EQ(lint(catalogue).size(), 1u);
  EXPECT_TRUE(lint(catalogue)[0].starts_with("dgx-a100: no power"));
}

TEST(Lint, FiguresOfHostsInOtherUnits) {
  const auto finding = [](auto change) {
    Catalogue catalogue;
    catalogue.hosts.push_back(shipped_catalogue().host("desktop-ddr5-64gb"));
    change(catalogue.hosts[0]);
    const std::vector<std::string> all = lint(catalogue);
    return all.size() == 1 ? all[0] : std::to_string(all.size()) + " findings";
  };
  const std::string start = "desktop-ddr5-64gb: ";
  EXPECT_TRUE(finding([](Host& h) {
                h.ram_bandwidth = BytesPerSecond(51200e9);
              }).starts_with(start + "RAM bandwidth of a core"));
  EXPECT_TRUE(finding([](Host& h) {
                h.ram_bandwidth = BytesPerSecond(1e-3);
              }).starts_with(start + "RAM bandwidth of a core"));
  EXPECT_TRUE(finding([](Host& h) {
                h.cpu_peak = FlopsPerSecond(900e12);
              }).starts_with(start + "peak of a core"));
  EXPECT_TRUE(finding([](Host& h) {
                h.disk_read = BytesPerSecond(500e9);
              }).starts_with(start + "disk read"));
  EXPECT_TRUE(finding([](Host& h) { h.ram = 1024 * h.ram; }).starts_with(start + "RAM of a core"));
}

TEST(Lint, OnePowerOfACardThatSharesTheMemoryOfItsHost) {
  expect_finding(found([](Device& row) { row.unified_memory = true; }), "power_includes_host");
  EXPECT_TRUE(found([](Device& row) {
                row.unified_memory = true;
                row.power_includes_host = true;
              }).empty());
}

TEST(Lint, NamesThatCollideInAnySpelling) {
  Catalogue catalogue;
  catalogue.hosts = shipped_catalogue().hosts;
  catalogue.devices.push_back(shipped_catalogue().device("rtx-4090"));
  catalogue.devices.push_back(shipped_catalogue().device("a100-sxm-80gb"));
  catalogue.devices[1].aliases.push_back("NVIDIA RTX4090");
  expect_finding(lint(catalogue), "also a name of rtx-4090");
}

}  // namespace
}  // namespace headroom
