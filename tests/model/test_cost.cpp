// Costs of machines and tokens, calculated by hand.
#include <gtest/gtest.h>

#include "model/answer/cost.hpp"

namespace headroom::model {
namespace {

const std::string terms = R"(
electricity_per_kwh = 0.25
power_usage_effectiveness = 1.2
utilisation = 0.5
amortisation_years = 4
)";

Prices read_prices(const std::string& rest) {
  return read_prices(terms + rest, "prices.toml", shipped_catalogue());
}

/// Two cards of 300 W in a host of 400 W.
Machine machine() {
  Machine all = parse_machine("2x rtx-4090 @ desktop-ddr5-64gb", shipped_catalogue());
  for (Device& card : all.devices) card.power_w = 300;
  all.host.power_w = 400;
  return all;
}

Scenario scenario() {
  Scenario s;
  s.batch = 4;
  s.prompt_tokens = 1000;
  s.output_tokens = 200;
  return s;
}

/// 2 s to the first token and 10 s in total, with four concurrent sequences.
Service two_and_ten_seconds() {
  Service s;
  s.ttft = Seconds(2);
  s.total = Seconds(10);
  s.prompt_share = 0.2;
  s.requests_s = 0.4;
  return s;
}

const char* const bought = R"(
[[price]]
device = "rtx-4090"
buy = 2000
used = 1000
[[price]]
host = "desktop-ddr5-64gb"
buy = 3012.8
used = 600
)";

TEST(Cost, OwnedIsCapitalAndTheEnergyOfTheHoursAtWork) {
  // 7012.8 over 4 years of 8766 hours, plus 1 kW * 1.2 * 0.25 for half of the time.
  const auto cost = hourly_cost(read_prices(bought), machine(), Acquisition::buy);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->capital, 0.2);
  EXPECT_DOUBLE_EQ(cost->energy, 0.15);
  const auto used = hourly_cost(read_prices(bought), machine(), Acquisition::used);
  ASSERT_TRUE(used);
  EXPECT_DOUBLE_EQ(used->capital, 2600 / (4 * 8766.));
}

TEST(Cost, RentIncludesTheEnergy) {
  const auto cost =
      hourly_cost(read_prices("[[price]]\ndevice = \"rtx-4090\"\nrent_per_hour = 0.4\n"), machine(),
                  Acquisition::rent);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->total(), 0.8);
  EXPECT_EQ(cost->energy, 0);
}

TEST(Cost, CostsWithMissingFiguresAreAbsent) {
  EXPECT_FALSE(hourly_cost(read_prices(""), machine(), Acquisition::rent));
  EXPECT_FALSE(hourly_cost(read_prices(""), machine(), Acquisition::used));
  Machine unknown = machine();
  unknown.devices[1].power_w = 0;
  EXPECT_FALSE(power_w(unknown));
  EXPECT_FALSE(hourly_cost(read_prices(bought), unknown, Acquisition::buy));
  Prices prices = read_prices(bought);
  prices.amortisation_years.reset();
  EXPECT_FALSE(hourly_cost(prices, machine(), Acquisition::buy));
}

TEST(Cost, TokensShareTheCostOfTheirRequest) {
  // 0.36 per hour is 0.0001 per second. With half utilisation it is 0.0002 per second of work. A
  // request has 1000 + 4 * 200 tokens as dear as those of prompts.
  const TokenCost cost = token_cost(0.36, 0.5, 0.8, scenario());
  EXPECT_DOUBLE_EQ(cost.request, 0.0002 / 0.8);
  EXPECT_DOUBLE_EQ(cost.input_per_million, cost.request / 1800 * 1e6);
  EXPECT_DOUBLE_EQ(cost.output_per_million, cost.request / 1800 * 4e6);
  EXPECT_DOUBLE_EQ((1000 * cost.input_per_million + 200 * cost.output_per_million) / 1e6,
                   cost.request);
}

TEST(Cost, JoulesBuyTheTokensOfAllCopies) {
  // 1.2 requests a second of 200 tokens, for 1000 W.
  EXPECT_DOUBLE_EQ(tokens_per_joule(scenario(), two_and_ten_seconds(), 3, 1000), 0.24);
}

TEST(Cost, OwningPaysWhereTheOtherCostsMoreThanItsEnergy) {
  const HourlyCost owned{99, 0.5};
  EXPECT_DOUBLE_EQ(*break_even_months(7305, owned, 1.5), 10);
  EXPECT_FALSE(break_even_months(7305, owned, 0.5));
}

TEST(Cost, AnApiIsPaidByTheToken) {
  ApiPrice api;
  api.input_per_million = 2;
  api.output_per_million = 10;
  // A request costs 0.002 + 0.002. Half of 3600 seconds have one request per second.
  EXPECT_DOUBLE_EQ(api_per_hour(api, 0.5, scenario(), 1), 7.2);
}

}  // namespace
}  // namespace headroom::model
