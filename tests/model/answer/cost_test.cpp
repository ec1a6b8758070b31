// Costs of machines and tokens, calculated by hand.
#include "model/answer/cost.hpp"

#include <gtest/gtest.h>

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

TEST(Cost, RentedCardsHaveTheirPartOfTheHostsPower) {
  Machine box = machine();
  box.host.cards = 8;
  EXPECT_DOUBLE_EQ(*power_w(box, Acquisition::buy), 1000);
  EXPECT_DOUBLE_EQ(*power_w(box, Acquisition::rent), 600 + 400 * 2 / 8.0);
  box.host.cards = 2;
  EXPECT_DOUBLE_EQ(*power_w(box, Acquisition::rent), 1000);
  box.host.cards = 0;  // any number
  EXPECT_DOUBLE_EQ(*power_w(box, Acquisition::rent), 1000);
}

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

TEST(Cost, ACardThatIncludesItsHostCountsOnce) {
  Machine all = machine();
  EXPECT_EQ(power_w(all), 1000);
  all.devices[0].power_includes_host = true;
  EXPECT_EQ(power_w(all), 600);
  all.host.power_w = 0;
  EXPECT_EQ(power_w(all), 600);
}

TEST(Cost, WholeBoxesOfTheCatalogueCountOnce) {
  const auto watts = [](std::string_view name) {
    return power_w(parse_machine(name, shipped_catalogue()));
  };
  EXPECT_EQ(watts("dgx-spark"), 240);       // its power supply
  EXPECT_EQ(watts("m2-ultra-192gb"), 295);  // support.apple.com/102027
  EXPECT_EQ(watts("m1-8gb"), 39);           // support.apple.com/103253
  EXPECT_EQ(watts("4x gh200-96gb"), 4000);  // four superchips of 1000 W
  EXPECT_EQ(watts("8x h100-sxm-80gb"), 10200);
  EXPECT_EQ(watts("m3-max-128gb"), std::nullopt);
}

using Missing = MissingCost::Fact;

TEST(Cost, AMissingCostNamesEveryFactThatItNeeds) {
  Machine unknown = machine();
  unknown.devices[1].power_w = 0;
  unknown.devices[1].power_unknown = "nobody has measured it";
  EXPECT_TRUE(missing_costs(read_prices(bought), machine(), Acquisition::buy).empty());
  const auto power = missing_costs(read_prices(bought), unknown, Acquisition::used);
  ASSERT_EQ(power.size(), 1u);
  EXPECT_EQ(power[0], (MissingCost{Missing::power, "rtx-4090", "nobody has measured it"}));
  EXPECT_EQ(to_text(power[0]), "no power_w of rtx-4090: nobody has measured it");
  unknown.host.power_w = 0;
  std::vector<std::string> all;
  for (const MissingCost& each : missing_costs(Prices{}, unknown, Acquisition::buy))
    all.push_back(to_text(each));
  EXPECT_EQ(all, (std::vector<std::string>{"no price of 2x rtx-4090 @ desktop-ddr5-64gb (buy)",
                                           "no electricity_per_kwh", "no amortisation_years",
                                           "no power_w of rtx-4090: nobody has measured it",
                                           "no power_w of desktop-ddr5-64gb"}));
  const auto rent = missing_costs(Prices{}, unknown, Acquisition::rent);
  ASSERT_EQ(rent.size(), 1u);
  EXPECT_EQ(to_text(rent[0]), "no price of 2x rtx-4090 @ desktop-ddr5-64gb (rent_per_hour)");
}

TEST(Cost, NothingIsMissingExactlyWhereThereIsACost) {
  const std::string prices = R"(
[[price]]
device = "gb10"
buy = 4000
[[price]]
device = "m3-max-128gb"
buy = 4000
rent_per_hour = 1
[[price]]
host = "dgx-spark"
buy = 1
[[price]]
host = "mac"
buy = 1
)";
  int costs = 0;
  for (const bool with_terms : {false, true}) {
    const Prices all = with_terms
                           ? read_prices(prices)
                           : headroom::read_prices(prices, "prices.toml", shipped_catalogue());
    for (const char* name : {"gb10", "m3-max-128gb", "rtx-4090", "cpu @ mac"})
      for (const Acquisition way : acquisitions) {
        const Machine machine = parse_machine(name, shipped_catalogue());
        const bool cost = hourly_cost(all, machine, way).has_value();
        costs += cost ? 1 : 0;
        EXPECT_EQ(missing_costs(all, machine, way).empty(), cost) << name << name_of(way);
      }
  }
  EXPECT_EQ(costs, 3);  // gb10 bought with terms, m3-max rented with and without
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
