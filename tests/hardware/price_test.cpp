// Reads, rejects and totals a user's prices.
#include "hardware/price.hpp"

#include <gtest/gtest.h>

#include "hardware/machine.hpp"

namespace headroom {
namespace {

Prices read(const std::string& toml) {
  return read_prices(toml, "prices.toml", shipped_catalogue());
}

Machine machine(const char* text) { return parse_machine(text, shipped_catalogue()); }

const std::string usual = R"(
currency = "EUR"
per_usd = 0.5
electricity_per_kwh = 0.25
power_usage_effectiveness = 1.3
utilisation = 0.6
amortisation_years = 4
[[price]]
device = "NVIDIA GeForce RTX 4090"
buy = 2000
rent_per_hour = 0.4
[[price]]
host = "desktop"
buy = 1500
[[price]]
machine = "8x h100-sxm-80gb @ dgx-h100"
buy = 300000
rent_per_hour = 20
[[api]]
model = "some/model"
provider = "somebody"
input_per_million = 0.5
output_per_million = 1.5
)";

TEST(Prices, UseCatalogueNames) {
  const Prices prices = read(usual);
  EXPECT_EQ(prices.currency, "EUR");
  EXPECT_EQ(prices.power_usage_effectiveness, 1.3);
  ASSERT_NE(prices.find(Price::Of::device, "rtx-4090"), nullptr);
  EXPECT_EQ(prices.find(Price::Of::device, "rtx-4090")->source, "prices.toml");
  EXPECT_EQ(prices.find(Price::Of::host, "rtx-4090"), nullptr);
  ASSERT_EQ(prices.apis.size(), 1u);
  EXPECT_EQ(prices.apis[0].output_per_million, 1.5);
}

TEST(Prices, AFigureMayBeARange) {
  Prices prices = read(R"(
electricity_per_kwh = { expected = 0.2, low = 0.1, high = 0.3 }
utilisation = 0.5
[[price]]
device = "rtx-3090"
used = { expected = 800, low = 600, high = 1000 }
buy = { expected = 900, low = 900, high = 900 }
[[price]]
host = "desktop"
buy = 1500
[[price]]
device = "rtx-4090"
rent_per_hour = { expected = 0.4, low = 0.3, high = 0.8 }
)");
  EXPECT_EQ(prices.electricity_per_kwh, 0.2);
  EXPECT_EQ(prices.find(Price::Of::device, "rtx-3090")->used, 800);
  ASSERT_EQ(prices.uncertain.size(), 3u) << "a range of nothing is sure";
  const Uncertain& used = prices.uncertain[1];
  EXPECT_EQ(used.name, "rtx-3090, used");
  EXPECT_DOUBLE_EQ(used.low, 0.75);
  EXPECT_DOUBLE_EQ(used.high, 1.25);
  prices.figure(used) = 700;
  EXPECT_EQ(prices.find(Price::Of::device, "rtx-3090")->used, 700);
  prices.figure(prices.uncertain[2]) = 0.5;
  EXPECT_EQ(prices.find(Price::Of::device, "rtx-4090")->rent_per_hour, 0.5);
  prices.figure(prices.uncertain[0]) = 0.25;
  EXPECT_EQ(prices.electricity_per_kwh, 0.25);
}

TEST(Prices, ARangeThatIsNoneIsRefused) {
  for (const char* range :
       {"{ expected = 5, low = 6, high = 7 }", "{ expected = 5, low = 4, high = 4.5 }",
        "{ expected = 5, low = 4 }", "{ expected = 5, low = 0, high = 6 }", "{}",
        "{ expected = 5, low = -1, high = 6 }", "{ expected = 5, low = 4, high = inf }",
        "{ expected = 5, low = 4, high = 6, hihg = 6 }", "[4, 5, 6]", "\"5\""})
    EXPECT_THROW(read(std::string("amortisation_years = ") + range), std::runtime_error) << range;
  EXPECT_THROW(read("utilisation = { expected = 0.9, low = 0.8, high = 1.2 }"), std::runtime_error);
  EXPECT_THROW(read("power_usage_effectiveness = { expected = 1.1, low = 0.9, high = 1.2 }"),
               std::runtime_error);
}

TEST(Prices, AddUpOverAMachine) {
  const Prices prices = read(usual);
  EXPECT_EQ(purchase_price(prices, machine("2x rtx-4090")), 2 * 2000 + 1500);
  EXPECT_EQ(rent_per_hour(prices, machine("2x rtx-4090")), 0.8);
  // A list price of 1499 dollars at half a euro a dollar (launch price of the RTX 3090).
  EXPECT_EQ(purchase_price(prices, machine("rtx-3090")), 1499 * 0.5 + 1500);
  EXPECT_EQ(purchase_price(prices, machine("8x h100-sxm-80gb @ dgx-h100")), 300000);
  EXPECT_EQ(rent_per_hour(prices, machine("8x h100-sxm-80gb @ dgx-h100")), 20);
}

TEST(Prices, CountsOfACardAreMachinesToChooseFrom) {
  const Prices prices = read(R"(
[[price]]
device = "l40s"
rent_per_hour = 1.5
counts = [1, 4]
source = "a cloud"
[[price]]
machine = "8x h100-sxm-80gb @ dgx-h100"
rent_per_hour = 20
[[price]]
device = "h100-sxm-80gb"
rent_per_hour = 3
)");
  EXPECT_EQ(priced_machines(prices),
            (std::vector<std::string>{"1x l40s", "4x l40s", "8x h100-sxm-80gb @ dgx-h100"}));
  EXPECT_EQ(rent_row(prices, machine("4x l40s"))->source, "a cloud");
  // The row of the machine comes before that of its cards.
  EXPECT_EQ(rent_row(prices, machine("8x h100-sxm-80gb @ dgx-h100"))->rent_per_hour, 20);
  EXPECT_EQ(rent_row(prices, machine("2x h100-sxm-80gb @ dgx-h100"))->rent_per_hour, 3);
  EXPECT_EQ(rent_row(prices, machine("rtx-4090")), nullptr);
}

TEST(Prices, SeveralBoxesCostSoManyTimesOne) {
  const Prices prices = read(R"(
[[price]]
machine = "8x h100-sxm-80gb @ dgx-h100"
buy = 300000
rent_per_hour = 20
source = "a cloud"
[[price]]
device = "h100-sxm-80gb"
rent_per_hour = 1
)");
  EXPECT_EQ(rent_per_hour(prices, machine("16x h100-sxm-80gb @ dgx-h100")), 40);
  EXPECT_EQ(purchase_price(prices, machine("16x h100-sxm-80gb @ dgx-h100")), 600000);
  EXPECT_EQ(rent_row(prices, machine("16x h100-sxm-80gb @ dgx-h100"))->source, "a cloud");
  // Two boxes that are not full are no two of that machine.
  EXPECT_EQ(rent_per_hour(prices, machine("12x h100-sxm-80gb @ dgx-h100")), 12);
}

TEST(Prices, UnknownFiguresStayUnknown) {
  const Prices prices = read(usual);
  EXPECT_FALSE(purchase_price(prices, machine("4x h100-sxm-80gb @ dgx-h100")));
  EXPECT_FALSE(purchase_price(prices, machine("rtx-4090 @ laptop-16gb")));
  EXPECT_FALSE(rent_per_hour(prices, machine("rtx-4090 + rtx-3090")));
  EXPECT_FALSE(rent_per_hour(read(""), machine("cpu")));
  EXPECT_FALSE(read("").electricity_per_kwh);
}

TEST(Prices, BadFilesAreRefused) {
  const std::string card = "[[price]]\ndevice = \"t4\"\n";
  EXPECT_NO_THROW(read(card + "buy = 500\n"));
  const std::string api =
      "[[api]]\nmodel = \"m\"\nprovider = \"p\"\ninput_per_million = 1\n"
      "output_per_million = 2\n";
  EXPECT_NO_THROW(read(api));
  for (const std::string& bad :
       {card,
        card + "buy = 0\n",
        card + "buy = -5\n",
        card + "buy = 1e12\n",
        card + "buy = inf\n",
        card + "buy = \"500\"\n",
        card + "rent = 5\n",
        card + "host = \"laptop\"\nbuy = 5\n",
        card + "buy = 5\n" + card + "buy = 6\n",
        card + "buy = 5\ncounts = [0]\n",
        card + "buy = 5\ncounts = [1.5]\n",
        card + "buy = 5\ncounts = 2\n",
        card + "buy = 5\ncounts = []\n",
        card + "buy = 5\ncounts = [2000]\n",
        std::string("[[price]]\nmachine = \"1x t4\"\nbuy = 5\ncounts = [1]\n"),
        std::string("[[price]]\nbuy = 5\n"),
        std::string("[[price]]\ndevice = \"t5\"\nbuy = 5\n"),
        std::string("[[price]]\ndevice = \"a100\"\nbuy = 5\n"),
        std::string("[[price]]\nmachine = \"2x\"\nbuy = 5\n"),
        std::string("utilisation = 1.2\n"),
        std::string("power_usage_effectiveness = 0.9\n"),
        std::string("currency = \"EUR\"\n"),
        std::string("per_usd = 2\n"),
        std::string("electricity = 1\n"),
        std::string("[[api]]\nmodel = \"m\"\nprovider = \"p\"\ninput_per_million = 1\n"),
        api + api})
    EXPECT_THROW(read(bad), std::runtime_error) << bad;
}

TEST(Prices, ErrorsNameFileLineAndKey) {
  try {
    read("currency = \"USD\"\n[[price]]\ndevice = \"rtx-4091\"\nbuy = 5\n");
    FAIL() << "an unknown card was accepted";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("prices.toml:3: key 'device'"), std::string::npos) << message;
    EXPECT_NE(message.find("rtx-4090"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace headroom
