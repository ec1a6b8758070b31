// The hosts that hold a number of cards, and names of boxes.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "hardware/machine.hpp"
#include "hardware/names.hpp"

namespace headroom {
namespace {

Machine with_host(std::string_view text) { return parse_machine(text, shipped_catalogue()); }

TEST(Machine, RefusesSeveralBoxesWithoutNetworkAndNamesMachinesWithOne) {
  EXPECT_EQ(with_host("2x rtx-4090").host.name, "desktop-ddr5-64gb");
  const auto said = [](const char* text) -> std::string {
    try {
      with_host(text);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return {};
  };
  for (const char* words : {"holds 2 cards", "has no network to another",
                            "'4x rtx-4090 @ threadripper-pro-256gb' (up to 7)", "(up to 8)"})
    EXPECT_NE(said("4x rtx-4090 @ desktop-ddr5-128gb").find(words), std::string::npos) << words;
  EXPECT_EQ(said("4x rtx-4090 @ desktop-ddr5-128gb").find("laptop"), std::string::npos);
  EXPECT_NE(said("16x rtx-4090").find("'16x rtx-4090 @ epyc-rome-512gb' (8 in each of several)"),
            std::string::npos);
  EXPECT_NE(said("2x m3-ultra-512gb").find("type 'm3-ultra-512gb' for one box"), std::string::npos);
  EXPECT_EQ(with_host("7x rtx-4090 @ threadripper-pro-256gb").devices.size(), 7u);
  EXPECT_THROW(with_host("8x rtx-4090 @ threadripper-pro-256gb"), std::invalid_argument);
  EXPECT_THROW(with_host("2x rtx-4090 @ laptop-16gb"), std::invalid_argument);
}

TEST(Machine, MoreCardsThanTheUsualHostHoldsTakeTheNearestThatDoes) {
  const Machine four = with_host("4x rtx-3090");
  EXPECT_EQ(four.host.name, "threadripper-pro-256gb");
  EXPECT_TRUE(four.host_assumed);
  EXPECT_TRUE(four.host_for_cards);
  EXPECT_FALSE(four.ram_assumed);
  EXPECT_EQ(with_host("8x rtx-3090").host.name, "epyc-rome-512gb");
  EXPECT_EQ(with_host("2x rtx-4090 + 1x rtx-3090").host.name, "threadripper-pro-256gb");
  EXPECT_FALSE(with_host("2x rtx-3090").host_for_cards);
  EXPECT_FALSE(with_host("4x rtx-3090 @ epyc-rome-512gb").host_for_cards);
  EXPECT_FALSE(with_host("16x h100-sxm-80gb").host_for_cards) << "its host has a network";
}

TEST(Machine, ANameOfSeveralBoxesIsAmbiguous) {
  try {
    with_host("mac-studio");
    ADD_FAILURE();
  } catch (const UnknownName& e) {
    for (const char* words : {"ambiguous", "m1-ultra-64gb", "m2-ultra-192gb", "m3-ultra-512gb"})
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
  EXPECT_EQ(with_host("mac-studio-m3-ultra").devices.size(), 1u);
  EXPECT_EQ(with_host("m2-ultra-64gb @ mac-studio").host.name, "mac-studio");
  EXPECT_EQ(with_host("8xH200-sxm").devices.size(), 8u);
}

}  // namespace
}  // namespace headroom
