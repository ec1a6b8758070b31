// The engine and precision of a plan, which are those of an estimate of the same point.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <iterator>
#include <random>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"
#include "sweep/program.hpp"
#include "sweep/sources/source.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/sanitized.hpp"

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
