// Portfolios. Costs of loads add up to the cost of the fleet, and draws follow the ranges of
// prices.
#include "sweep/portfolio/portfolio.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <utility>

#include "hardware/text.hpp"
#include "sweep/plan/plan.hpp"
#include "sweep/portfolio/report.hpp"
#include "sweep/spec/spec.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep {
namespace {

/// Other contents of the files.
struct Terms {
  std::string machines = R"("2x rtx-4090")", keys = "", prices = "", load = "";
  int draws = 2000;
};

/// Two small models on rented cards. `rent` is written as in the prices file.
std::string portfolio_in(const headroom::test::Folder& folder, const std::string& rent,
                         const Terms& terms) {
  std::ofstream(folder / "prices.toml")
      << "[[price]]\ndevice = \"rtx-4090\"\nrent_per_hour = " << rent << '\n'
      << terms.prices;
  const auto file = folder / "p.toml";
  std::ofstream(file) << "machines = [" << terms.machines << "]\n"
                      << terms.keys << "\ndraws = " << terms.draws << R"(
prices = "prices.toml"
acquire = "rent"
seed = 7
[[load]]
model = "gpt2"
users = 2
prompt_tokens = 300
output_tokens = 100
[[load]]
model = "Qwen3-0.6B"
requests_s = 0.5
prompt_tokens = 900
output_tokens = 50
)" << terms.load << '\n';
  return file.string();
}

Portfolio read(const headroom::test::Folder& folder, const std::string& rent,
               const Terms& terms = {}) {
  static const Engines engines;
  return read_portfolio(portfolio_in(folder, rent, terms),
                        Hub(HubFlags{.token = {}, .offline = true}), engines);
}

/// The multiple of one machine that the second load takes, a fraction included.
double demand_of_second(const Terms& terms) {
  const headroom::test::Folder folder;
  const Portfolio p = read(folder, "0.5", terms);
  const auto options = model::serving_options(*p.machines[0], p.loads[1], false);
  return options.all.empty() ? 0 : options.all.front().demand;
}

TEST(Portfolio, LoadsGrowAndArriveAtRandom) {
  const double usual = demand_of_second({});
  EXPECT_NEAR(demand_of_second({.keys = "load_factor = 0.4"}), 2 * usual, 1e-9 * usual);
  EXPECT_NEAR(demand_of_second({.keys = "growth = 0.1\nmonths = 6"}), std::pow(1.1, 6) * usual,
              1e-9 * usual);
  const std::string limit = "max_ttft_p95 = \"80ms\"\n";
  const double limited = demand_of_second({.load = limit});
  EXPECT_GT(limited, usual);
  EXPECT_GT(demand_of_second({.load = limit + "burstiness = 0.25"}), limited);
  EXPECT_GT(demand_of_second({.load = limit + "prompt_tokens_p95 = 1500"}), limited);
}

TEST(Portfolio, UsersPauseAndMachinesAreSpared) {
  const headroom::test::Folder folder;
  const auto users = [&](const std::string& keys) {
    const Terms terms{.load = "[[load]]\nname = \"third\"\nmodel = \"gpt2\"\nusers = 3000\n" + keys,
                      .draws = 5};
    const Portfolio p = read(folder, "0.5", terms);
    return model::serving_options(*p.machines[0], p.loads[2], false).all.front().demand;
  };
  EXPECT_LT(users("think_time = \"60s\""), users("") / 5);
  EXPECT_NEAR(users("active_share = 0.5"), users("") / 2, 1e-9);

  const Portfolio spared = read(folder, "0.5", {.keys = "spares = 2", .draws = 5});
  const FleetPlan plan = plan_portfolio(spared).front();
  EXPECT_EQ(plan.machines(), plan.parts[0].fleet.machines + 2);
  EXPECT_DOUBLE_EQ(plan.per_hour(), 0.5 * 2 * static_cast<double>(plan.machines()));
}

TEST(Portfolio, SaysWhatStrictLimitsAndMeasurementsMake) {
  const headroom::test::Folder folder;
  const auto of = [&](const std::string& users) {
    return read(folder, "0.5",
                {.load = "[[load]]\nname = \"third\"\nmodel = \"Qwen3-0.6B\"\nusers = " + users +
                         "\nmax_tpot = \"8ms\"\n",
                 .draws = 5});
  };
  const Portfolio few = of("2"), many = of("2000");
  EXPECT_EQ(strict_plan(few).machines(), plan_portfolio(few).front().machines());
  EXPECT_GT(strict_plan(many).machines(), plan_portfolio(many).front().machines());
  const auto says_strict = [](const Portfolio& p) {
    return portfolio_words(p, plan_portfolio(p)).find("\nStrict ") != std::string::npos;
  };
  EXPECT_FALSE(says_strict(few));
  EXPECT_TRUE(says_strict(many));
  EXPECT_NE(portfolio_words(few, plan_portfolio(few)).find("\nMeasured "), std::string::npos);
}

TEST(Portfolio, NamesKeysWithoutEffect) {
  const headroom::test::Folder folder;
  for (const auto& [keys, load] : std::initializer_list<std::pair<std::string, std::string>>{
           {"months = 5", ""},
           {"", "think_time = \"5s\""},
           {"", "active_share = 0.2"},
           {"", "prompt_tokens_p95 = 10"},
           {"", "[[load]]\nname = \"c\"\nmodel = \"gpt2\"\nusers = 2\nprompt_tokens_p95 = 900"}})
    EXPECT_THROW(read(folder, "0.5", {.keys = keys, .load = load}), SpecError) << keys << load;
}

TEST(Portfolio, CostsOfLoadsAddUpToTheFleets) {
  const headroom::test::Folder folder;
  const Portfolio p = read(folder, "0.5", {.draws = 20});
  const auto plans = plan_portfolio(p);
  ASSERT_TRUE(plans.front().qualifies());
  const FleetPlan& plan = plans.front();
  EXPECT_DOUBLE_EQ(plan.per_hour(), 1.0);
  const auto costs = load_costs(p, plan);
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_DOUBLE_EQ(costs[0].per_hour + costs[1].per_hour, 1.0);
  EXPECT_DOUBLE_EQ(costs[1].requests_s, 0.5);
  // The cost of a load per second pays for exactly its prompts and its output.
  for (std::size_t l = 0; l < 2; ++l) {
    const model::Scenario& s = p.loads[l].request;
    const double request = (costs[l].input_per_million * static_cast<double>(s.prompt_tokens) +
                            costs[l].output_per_million * static_cast<double>(s.output_tokens)) /
                           1e6;
    EXPECT_NEAR(3600 * costs[l].requests_s * request, costs[l].per_hour, 1e-9);
  }
  const LoadCost mean = mean_cost(p, plan);
  const Demand demand = demand_of(p, plan);
  const double prompt = costs[0].requests_s * 300 + costs[1].requests_s * 900;
  EXPECT_NEAR(mean.output_per_million + mean.input_per_million * prompt / demand.output_tokens_s,
              cost_per_million(p, plan, p.prices), 1e-9);
}

/// One definition of cost: a load alone on machines that it fills costs the same as in a plan.
TEST(Portfolio, CostsWhatAPlanCosts) {
  const headroom::test::Folder folder;
  for (const std::string demand :
       {"users = 40", "requests_s = 3", "users = 300\nthink_time = \"20s\""}) {
    std::ofstream(folder / "prices.toml")
        << "[[price]]\ndevice = \"rtx-4090\"\nrent_per_hour = 0.5\n";
    std::ofstream(folder / "p.toml") << "machines = [\"2x rtx-4090\"]\nprices = "
                                        "\"prices.toml\"\nacquire = \"rent\"\nshare_cards = "
                                        "false\ndraws = 5\nruntime = \"vllm\"\n[[load]]\nmodel = "
                                        "\"Qwen/Qwen3-8B\"\nprompt_tokens = "
                                        "500\noutput_tokens = 200\n"
                                     << demand << '\n';
    static const Engines engines;
    const Portfolio p =
        read_portfolio(folder / "p.toml", Hub(HubFlags{.token = {}, .offline = true}), engines);
    const LoadCost cost = load_costs(p, plan_portfolio(p).front()).front();
    Choices choices;
    choices.combinations = {
        {{p.weights[0].get(), p.loads[0].request.runtime, p.machines[0].get(), {}}}};
    choices.acquisitions = {model::Acquisition::rent};
    choices.prices = &p.prices;
    const auto best =
        ranked(question("cheapest-machine"), choices, p.loads[0].request, p.loads[0].target)
            .front();
    ASSERT_TRUE(best.tokens) << demand;
    EXPECT_NEAR(cost.output_per_million, best.tokens->output_per_million,
                1e-9 * cost.output_per_million)
        << demand;
    EXPECT_NEAR(cost.requests_s, best.demand.requests_s, 1e-9 * cost.requests_s) << demand;
  }
}

TEST(Portfolio, DrawsAreOfThePricesRange) {
  const headroom::test::Folder folder;
  const Portfolio sure = read(folder, "0.5", {.draws = 20});
  const auto same = plan_portfolio(sure).front();
  EXPECT_DOUBLE_EQ(same.per_hour_low, 1);
  EXPECT_DOUBLE_EQ(same.per_hour_high, 1);
  const Portfolio p = read(folder, "{ expected = 0.5, low = 0.25, high = 2 }");
  const auto plan = plan_portfolio(p).front();
  EXPECT_DOUBLE_EQ(plan.per_hour(), 1);
  // The 10 % and 90 % quantiles of 2000 draws, for a machine that always suffices.
  EXPECT_NEAR(plan.per_hour_low, 0.5, 0.05);
  EXPECT_NEAR(plan.per_hour_high, 4, 0.4);
  const auto again = plan_portfolio(p).front();
  EXPECT_EQ(again.per_hour_low, plan.per_hour_low);
  const auto moved = sensitivities(p, plan);
  const auto rent = std::ranges::find(moved, "rtx-4090, rent_per_hour", &Sensitivity::assumption);
  ASSERT_NE(rent, moved.end());
  EXPECT_DOUBLE_EQ(rent->low, 0.25);
  EXPECT_DOUBLE_EQ(rent->at_high, 4 * cost_per_million(p, plan, p.prices));
}

TEST(Portfolio, TheBudgetPaysTheRentOfAllYears) {
  const headroom::test::Folder folder;
  // Two cards at 0.5 for 2 years of 8766 hours: 17532.
  for (const auto& [budget, suffices] : {std::pair{"17533", true}, {"17531", false}}) {
    const Portfolio p =
        read(folder, "0.5", {.keys = std::string("years = 2\nbudget = ") + budget, .draws = 20});
    EXPECT_EQ(plan_portfolio(p).front().qualifies(), suffices) << budget;
  }
}

/// Equal cards in two hosts cost the same in every draw.
TEST(Portfolio, EachDrawHasOneCheapest) {
  const headroom::test::Folder folder;
  const Portfolio p =
      read(folder, "{ expected = 0.5, low = 0.25, high = 2 }",
           {.machines = R"("2x rtx-4090 @ desktop-ddr5-64gb", "2x rtx-4090 @ desktop-ddr5-128gb")",
            .draws = 200});
  const auto plans = plan_portfolio(p);
  ASSERT_GE(plans.size(), 2u);
  EXPECT_EQ(plans[0].per_hour(), plans[1].per_hour());
  Size sum = 0;
  for (const FleetPlan& plan : plans) sum += plan.wins;
  EXPECT_EQ(sum, p.draws);
}

TEST(Portfolio, SaysWhetherAnApiCostsLess) {
  const auto words = [](const std::string& price) {
    const headroom::test::Folder folder;
    std::string apis;
    for (const char* model : {"gpt2", "Qwen3-0.6B"})
      apis += "[[api]]\nmodel = \"" + std::string(model) +
              "\"\nprovider = \"p\"\ninput_per_million = " + price +
              "\noutput_per_million = " + price + '\n';
    const Portfolio p = read(folder, "0.5", {.prices = apis, .draws = 20});
    const std::string text = portfolio_words(p, plan_portfolio(p));
    std::string line;  // screens break lines anywhere
    for (const auto word : headroom::words(text, " \n")) line += std::string(word) + ' ';
    return line;
  };
  const std::string dear = words("1000"), cheap = words("0.00001");
  EXPECT_NE(cheap.find("; the API costs less"), std::string::npos) << cheap;
  EXPECT_NE(dear.find("an hour for these tokens"), std::string::npos) << dear;
  EXPECT_EQ(dear.find("the API costs less"), std::string::npos);
  const headroom::test::Folder folder;
  const std::string apis =
      "[[api]]\nmodel = \"gpt3\"\nprovider = \"p\"\ninput_per_million = 1\n"
      "output_per_million = 1\n";
  EXPECT_EQ(unused_apis(read(folder, "0.5", {.prices = apis, .draws = 20})),
            std::vector<std::string>{"gpt3"});
  // The plan buys nothing.
  EXPECT_EQ(cheap.find("pays off"), std::string::npos);
  EXPECT_EQ(dear.find("pays off"), std::string::npos);
}

}  // namespace
}  // namespace headroom::sweep
