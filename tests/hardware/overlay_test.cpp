// Files of users that are laid over the shipped catalogue.
#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/catalogue_files.hpp"
#include "hardware/names.hpp"

namespace headroom {
namespace {

std::string message_of(std::string_view toml) {
  try {
    overlay(shipped_catalogue(), toml, "mine.toml");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Overlay, ANewCardAndOneBasedOnAnother) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
[[device]]
name = "next-card-96gb"
memory_gib = 96
bandwidth_gbs = 2000
bf16_tflops = 500

[[device]]
name = "h100-sxm-64gb"
based_on = "h100-sxm-80gb"
memory_gib = 64
)",
                                 "mine.toml");
  EXPECT_EQ(mine.device("next-card-96gb").memory, 96 * Bytes(1 << 30));
  EXPECT_EQ(mine.device("next-card-96gb").source, "mine.toml");
  const Device& custom = mine.device("h100-sxm-64gb");
  EXPECT_EQ(custom.memory, 64 * Bytes(1 << 30));
  EXPECT_TRUE(custom.memory_nominal);
  EXPECT_EQ(custom.bandwidth, mine.device("h100-sxm-80gb").bandwidth);
  EXPECT_EQ(mine.device("h100-80gb-hbm3").name, "h100-sxm-80gb") << "aliases are not inherited";
  EXPECT_NE(custom.source.find("mine.toml; the rest as h100-sxm-80gb"), std::string::npos);
}

TEST(Overlay, ARowOfTheSameNameReplacesTheShippedOne) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
[[device]]
name = "rtx-4090"
based_on = "rtx-4090"
power_w = 300
)",
                                 "mine.toml");
  EXPECT_EQ(mine.devices.size(), shipped_catalogue().devices.size());
  EXPECT_EQ(mine.device("rtx-4090").power_w, 300);
  EXPECT_EQ(mine.device("rtx-4090").memory, shipped_catalogue().device("rtx-4090").memory);
}

TEST(Overlay, APowerAndItsReasonReplaceEachOther) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
[[device]]
name = "rtx-4090"
based_on = "rtx-4090"
power_unknown = "it was never measured"
[[device]]
name = "m3-max-48gb"
based_on = "m3-max-48gb"
power_w = 100
power_includes_host = true
)",
                                 "mine.toml");
  EXPECT_EQ(mine.device("rtx-4090").power_w, 0);
  EXPECT_EQ(mine.device("rtx-4090").power_unknown, "it was never measured");
  EXPECT_EQ(mine.device("m3-max-48gb").power_w, 100);
  EXPECT_TRUE(mine.device("m3-max-48gb").power_includes_host);
  EXPECT_EQ(mine.device("m3-max-48gb").power_unknown, "");
  EXPECT_NE(shipped_catalogue().device("m3-max-48gb").power_unknown, "");
}

TEST(Overlay, AnUncheckedFigureStaysSoUntilARowGivesAnother) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
[[host]]
name = "a"
based_on = "dgx-a100"
disk_read_gbs = 3
power_w = 90
unchecked = ["disk_read_gbs", "power_w"]
[[host]]
name = "b"
based_on = "a"
power_w = 80
)",
                                 "mine.toml");
  EXPECT_EQ(mine.host("a").unchecked, (std::vector<std::string>{"disk_read_gbs", "power_w"}));
  EXPECT_EQ(mine.host("b").unchecked, std::vector<std::string>{"disk_read_gbs"});
}

TEST(Overlay, AHostAndTheDefault) {
  const Catalogue mine = overlay(shipped_catalogue(), R"(
default_host = "attic"
[[host]]
name = "attic"
based_on = "desktop-ddr4-32gb"
ram_gb = 128
)",
                                 "mine.toml");
  EXPECT_EQ(mine.default_host, "attic");
  EXPECT_EQ(mine.host("attic").ram, Bytes(128'000'000'000));
}

TEST(Overlay, ErrorsNameFileLineKeyAndTheNearestKey) {
  const std::string message = message_of(
      "[[device]]\nname = \"x\"\nmemory_gib = 8\nbandwith_gbs = 100\nfp16_tflops = 1\n"
      "bandwidth_gbs = 1\n");
  EXPECT_NE(message.find("mine.toml:4"), std::string::npos) << message;
  EXPECT_NE(message.find("'bandwith_gbs'"), std::string::npos) << message;
  EXPECT_NE(message.find("bandwidth_gbs"), std::string::npos) << message;
}

TEST(Overlay, ErrorsNameFoundAndAllowedValues) {
  const std::string message =
      message_of("[[device]]\nname = \"x\"\nmemory_gib = \"8GB\"\nbandwidth_gbs = 100\n");
  EXPECT_NE(message.find("mine.toml:3: key 'memory_gib'"), std::string::npos) << message;
  EXPECT_NE(message.find("8GB"), std::string::npos) << message;
  EXPECT_NE(message.find("a number"), std::string::npos) << message;
}

TEST(Overlay, BadRowsAreRefused) {
  const std::string head = "[[device]]\nname = \"x\"\n";
  const std::string good = head + "memory_gib = 8\nbandwidth_gbs = 100\nfp16_tflops = 10\n";
  EXPECT_EQ(message_of(good), "accepted");
  for (const std::string& bad : {std::string("not toml"),
                                 std::string("[[devise]]\n"),
                                 std::string("device = 3\n"),
                                 head,
                                 head + "memory_gib = 8\nbandwidth_gbs = 100\n",
                                 good + "memory_mib = 8192\n",
                                 good + "multiprocessors = 1.5\n",
                                 good + "power_w = -1\n",
                                 good + "power_w = nan\n",
                                 good + "power_w = 0\n",
                                 good + "power_w = 9\npower_unknown = \"x\"\n",
                                 good + "power_includes_host = 1\n",
                                 good + "unchecked = [\"power_w\"]\n",
                                 good + "list_price_usd = 0\n",
                                 good + "list_price_usd = 1e30\n",
                                 good + "aliases = [1]\n",
                                 good + "vendor = \"\"\n",
                                 good + good,
                                 good + "based_on = \"nothing\"\n",
                                 good + "unified_memory = 1\n",
                                 std::string("default_host = \"nowhere\"\n"),
                                 std::string("[[host]]\nname = \"x\"\n"),
                                 head + "memory_gib = 8\nbandwidth_gbs = 0\nfp16_tflops = 10\n"})
    EXPECT_NE(message_of(bad), "accepted") << bad;
}

TEST(Overlay, CirclesAreErrors) {
  const std::string message = message_of(R"(
[[device]]
name = "a"
based_on = "b"
[[device]]
name = "b"
based_on = "a"
)");
  EXPECT_NE(message.find("circle"), std::string::npos) << message;
  EXPECT_NE(message_of("[[device]]\nname = \"a\"\nbased_on = \"a\"\n"), "accepted");
}

}  // namespace
}  // namespace headroom
