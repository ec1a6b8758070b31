// The engine and precision of a plan, which are those of an estimate of the same point.
#include "sweep/plan/plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/program.hpp"
#include "sweep/sources/source.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

/// The JSON that a command writes. Null where it is a usage error or fails.
boost::json::value json_of(std::vector<std::string> arguments, const std::string& file) {
  for (const auto* each : {"--format", "json", "--out"}) arguments.emplace_back(each);
  arguments.push_back(file);
  const int code = run_program(arguments);
  if (code != 0 && code != 3) return {};
  std::ifstream in(file);
  return boost::json::parse(std::string(std::istreambuf_iterator<char>(in), {}));
}

struct DrawnPoint {
  std::string model, machine;
};

std::vector<DrawnPoint> drawn_points(int number) {
  const auto models = catalogue_models();
  std::vector<std::string> machines;
  for (const auto& device : shipped_catalogue().devices)
    if (device.name.find("laptop") == std::string::npos) machines.push_back("1x " + device.name);
  for (const auto* several : {"2x rtx-3090", "4x l40s", "8x h100-sxm-80gb", "2x a100-sxm-40gb"})
    machines.emplace_back(several);
  std::mt19937 random(27);
  const auto any = [&](const auto& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
  };
  std::vector<DrawnPoint> points;
  for (int i = 0; i < number; ++i) points.push_back({any(models), any(machines)});
  return points;
}

TEST(Plan, TakesTheWayOfAnEstimate) {
  const test::Folder folder;
  const std::string file = (folder.path() / "out.json").string();
  int compared = 0;
  for (const auto& [model, machine] : drawn_points(240 / test::stride)) {
    const auto estimate = json_of({"estimate", model, "--machine", machine}, file);
    const auto plan = json_of({"plan", "best-precision", model, "--machine", machine}, file);
    if (!resolve_model(model).writes()) {
      EXPECT_TRUE(plan.is_null()) << model << " writes no tokens";
      continue;
    }
    ASSERT_EQ(estimate.is_null(), plan.is_null()) << model << " on " << machine;
    if (estimate.is_null() || estimate.at("ways").as_array().empty()) continue;
    const auto& verdict = estimate.at("verdict").as_string();
    if (verdict != "fits_one_gpu" && verdict != "fits_gpus") continue;
    const auto& way = estimate.at("ways").at(0);
    const auto& candidate = plan.at(0);
    ++compared;
    EXPECT_EQ(candidate.at("runtime"), way.at("runtime")) << model << " on " << machine;
    EXPECT_EQ(candidate.at("precision"), way.at("precision")) << model << " on " << machine;
  }
  EXPECT_GE(compared, 100 / test::stride);
}

/// Both reserve 8,192 tokens for all sequences together, or just prompt and output of each.
TEST(Plan, TheLargestBatchFitsInAnEstimateToo) {
  const test::Folder folder;
  const std::string file = (folder.path() / "out.json").string();
  int compared = 0;
  for (const auto& [model, card] : {std::pair{"llama2-13b", "rtx-4070"},
                                    {"llama2-13b", "rtx-3090"},
                                    {"llama2-7b", "rtx-3060-12gb"},
                                    {"meta-llama/Llama-3.1-70B-Instruct", "2x h100-sxm-80gb"}}) {
    const auto plan = json_of(
        {"plan", "largest-batch", model, "--machine", card, "--runtime", "llama.cpp"}, file);
    ASSERT_FALSE(plan.is_null());
    const boost::json::value& best = plan.at(0);
    const auto batch = best.at("batch").to_number<Size>();
    const auto estimate =
        json_of({"estimate", model, "--machine", card, "--runtime", "llama.cpp", "--precision",
                 std::string(best.at("precision").as_string()), "--batch", std::to_string(batch)},
                file);
    ASSERT_FALSE(estimate.is_null());
    EXPECT_TRUE(std::string(estimate.at("verdict").as_string()).starts_with("fits")) << model;
    EXPECT_EQ(std::string(estimate.at("verdict").as_string()).find("offload"), std::string::npos)
        << model << " on " << card << " with " << batch;
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

/// The answer for `users` on machines like `machine`, rented for 1 an hour each.
Candidate cheapest(const model::QuantisedModel& weights, const model::Engine& engine,
                   const Machine& machine, const model::Target& target) {
  Prices prices;
  Price rent;
  rent.of = Price::Of::machine;
  rent.name = machine.name;
  rent.rent_per_hour = 1;
  prices.prices.push_back(rent);
  Choices choices;
  choices.combinations = {{{&weights, &engine, &machine, {}}}};
  choices.acquisitions = {model::Acquisition::rent};
  choices.prices = &prices;
  model::Scenario request;
  request.prompt_tokens = 900;
  request.output_tokens = 300;
  const auto all = ranked(question("cheapest-machine"), choices, request, target);
  return all.empty() ? Candidate() : all.front();
}

/// More of anything takes no more machines for as many requests, and on as many machines no request
/// ends later.
TEST(Plan, MoreCardsBandwidthOrMemoryNeverLose) {
  // How often people who pause ask is found to a millionth (model/infer/queue.cpp).
  constexpr double exactly = 1 + 1e-9, with_pauses = 1 + 1e-5;
  int compared = 0;
  for (const char* name : {"meta-llama/Meta-Llama-3-8B", "Qwen/Qwen3-30B-A3B", "Qwen/Qwen3-32B"})
    for (const auto& [engine, precision] :
         {std::pair{"vllm", "fp8"}, {"llama.cpp", "q4_K_M"}, {"sglang", "awq-int4"}}) {
      const auto model = resolve_model(name, Hub(HubFlags{.token = {}, .offline = true}));
      const auto weights = model::quantise(model, model::scheme(precision));
      for (const char* card : {"rtx-4090", "a100-sxm-80gb"})
        for (const auto& [users, think] : {std::pair<Size, double>{24, 0}, {900, 0}, {2000, 60}}) {
          model::Target target;
          target.users = users;
          target.think = think;
          const double rounding = think > 0 ? with_pauses : exactly;
          const std::string host = card[0] == 'r' ? " @ epyc-genoa-768gb" : "";
          const auto machine = [&](int cards) {
            return parse_machine(fmt::format("{}x {}{}", cards, card, host), shipped_catalogue());
          };
          const auto is_no_worse = [&](const Machine& more, const Machine& less) {
            const Candidate a = cheapest(weights, model::engine(engine), more, target);
            const Candidate b = cheapest(weights, model::engine(engine), less, target);
            if (!b.qualifies()) return;
            const auto where = fmt::format("{} {} on {}, {} users", name, engine, more.name, users);
            ++compared;
            // People who pause ask more often where answers come sooner.
            if (target.think == 0 || a.demand.requests_s <= b.demand.requests_s) {
              EXPECT_LE(a.machines, b.machines) << where;
            }
            if (a.machines == b.machines) {
              EXPECT_LE(a.demand.service.total.value(), rounding * b.demand.service.total.value())
                  << where;
            }
          };
          for (const int cards : {1, 2, 4}) {
            const Machine less = machine(cards);
            is_no_worse(machine(2 * cards), less);
            Machine wide = less, large = less;
            for (Device& each : wide.devices) each.bandwidth = 1.25 * each.bandwidth;
            for (Device& each : large.devices) each.memory = Bytes(each.memory.count() / 4 * 5);
            is_no_worse(wide, less);
            is_no_worse(large, less);
          }
        }
    }
  EXPECT_GE(compared, 300);
}

/// A further card never makes the plan of the most users serve half as much to as many.
TEST(Plan, MoreCardsNeverServeHalfAsMuch) {
  const test::Folder folder;
  const std::string file = (folder.path() / "out.json").string();
  double users = 0, tokens_s = 0;
  for (int cards = 1; cards <= 8; ++cards) {
    const auto plan = json_of(
        {"plan", "most-users", "Llama-3.3-70B-Instruct", fmt::format("{}x h100-sxm-80gb", cards)},
        file);
    ASSERT_FALSE(plan.is_null());
    const double more = plan.at(0).at("users").to_number<double>();
    const double faster = plan.at(0).at("tokens_s").to_number<double>();
    EXPECT_FALSE(tokens_s >= 2.01 * faster && 1.99 * users >= more) << cards;
    EXPECT_GE(more, users / 2) << cards;
    users = more;
    tokens_s = faster;
  }
  EXPECT_GT(tokens_s, 0);
}

TEST(Plan, EveryReferencePriceIsOfAMachine) {
  const Prices prices = reference_prices(shipped_catalogue());
  const auto machines = priced_machines(prices);
  EXPECT_GE(machines.size(), 40U);
  for (const auto& name : machines) {
    const Machine machine = parse_machine(name, shipped_catalogue());
    const auto rent = rent_per_hour(prices, machine);
    ASSERT_TRUE(rent) << name;
    EXPECT_GT(*rent, 0.05) << name;
    EXPECT_LT(*rent / static_cast<double>(machine.devices.size()), 20) << name;
    const Price* row = rent_row(prices, machine);
    ASSERT_NE(row, nullptr) << name;
    EXPECT_NE(row->source.find('@'), row->source.find("pull request")) << row->name;
    EXPECT_EQ(row->date.size(), 10U) << row->name;
  }
}

}  // namespace
}  // namespace headroom::sweep
