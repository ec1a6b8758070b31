// A run as OpenMetrics text, read by a strict reader of what the specification asks of gauges:
// https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, read
// 2026-11-27.
#include "report/open_metrics.hpp"

#include <gtest/gtest.h>

#include <charconv>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "diff_runs.hpp"
#include "report/output_cost.hpp"

namespace headroom::report {
namespace {

using Labels = std::map<std::string, std::string>;
struct Family {
  std::string unit, help;
  std::map<Labels, double> samples;
};

Labels labels_in(std::string_view text) {
  Labels all;
  while (!text.empty()) {
    const auto equals = text.find("=\"");
    std::string value;
    std::size_t at = equals + 2;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && ++at < text.size()) {
        EXPECT_NE(std::string_view("\\\"n").find(text[at]), std::string_view::npos);
        value += text[at] == 'n' ? '\n' : text[at];
      } else {
        value += text[at];
      }
    }
    const std::string name(text.substr(0, equals));
    EXPECT_TRUE(std::regex_match(name, std::regex("[a-zA-Z_][a-zA-Z0-9_]*"))) << name;
    EXPECT_TRUE(all.emplace(name, value).second) << name << " twice";
    EXPECT_LT(at, text.size()) << "no closing quote";
    text.remove_prefix(std::min(at + 1, text.size()));
    if (text.empty()) break;
    EXPECT_EQ(text.front(), ',');
    text.remove_prefix(1);
  }
  return all;
}

/// Families by name. Type, unit and help come once, in this order, before the samples.
std::map<std::string, Family> read_metrics(const std::string& text) {
  std::map<std::string, Family> all;
  std::istringstream lines(text);
  std::string line, current;
  bool ended = false;
  EXPECT_TRUE(text.ends_with('\n'));
  while (std::getline(lines, line)) {
    EXPECT_FALSE(ended) << "after the end: " << line;
    std::smatch found;
    if (line == "# EOF") {
      ended = true;
    } else if (std::regex_match(line, found, std::regex("# TYPE ([a-z_]+) gauge"))) {
      current = found[1];
      EXPECT_TRUE(all.emplace(current, Family{}).second) << current << " twice";
    } else if (std::regex_match(line, found, std::regex("# UNIT ([a-z_]+) ([a-z_]+)"))) {
      EXPECT_EQ(found[1], current);
      EXPECT_TRUE(current.ends_with("_" + found[2].str())) << current;
      EXPECT_TRUE(all[current].help.empty() && all[current].samples.empty());
      all[current].unit = found[2];
    } else if (std::regex_match(line, found, std::regex(R"re(# HELP ([a-z_]+) ([^"\\]+))re"))) {
      EXPECT_EQ(found[1], current);
      EXPECT_TRUE(all[current].help.empty() && all[current].samples.empty());
      all[current].help = found[2];
    } else if (std::regex_match(line, found, std::regex(R"(([a-z_]+)\{(.*)\} ([^ ]+))"))) {
      EXPECT_EQ(found[1], current) << "families are not interleaved";
      const std::string number = found[3];
      double value = 0;
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), value);
      EXPECT_TRUE(error == std::errc{} && end == number.data() + number.size()) << number;
      EXPECT_TRUE(all[current].samples.emplace(labels_in(found[2].str()), value).second)
          << "a series twice: " << line;
    } else {
      ADD_FAILURE() << "not understood: " << line;
    }
  }
  EXPECT_TRUE(ended);
  for (const auto& [name, family] : all) EXPECT_FALSE(family.help.empty()) << name;
  return all;
}

std::map<std::string, Family> metrics_of(const Database& database, std::int64_t run) {
  std::ostringstream out;
  write_open_metrics(out, source_of(database, run));
  return read_metrics(out.str());
}

/// One model that fits, one that does not.
std::int64_t write_two(const std::filesystem::path& file, const RunInfo& info) {
  Store store(file);
  store.begin_run(info);
  store.append(0, std::vector{outcome(50), outcome(20, model::Verdict::does_not_fit)});
  store.finish_run();
  return store.run_id();
}

TEST(OpenMetrics, HasTheBestWayOfEachModelOnEachMachine) {
  Folder folder;
  const auto run = write_two(folder / "r.sqlite", run_of({"a", "b \"x\"\\\n"}, {1, 2}, {1}));
  const auto all = metrics_of(Database(folder / "r.sqlite"), run);
  const Labels runs{
      {"model", "a"}, {"machine", "card"}, {"precision", "bf16"}, {"runtime", "engine"}};
  const Labels does_not{
      {"model", "b \"x\"\\\n"}, {"machine", "card"}, {"precision", ""}, {"runtime", ""}};
  EXPECT_EQ(all.at("headroom_runs").samples, (std::map<Labels, double>{{runs, 1}, {does_not, 0}}));
  EXPECT_EQ(all.at("headroom_output_tokens_per_second").samples,
            (std::map<Labels, double>{{runs, 50}}));
  EXPECT_EQ(all.at("headroom_output_tokens_per_second").unit, "tokens_per_second");
  EXPECT_EQ(all.at("headroom_tpot_seconds").samples.at(runs), 1.0 / 50);
  EXPECT_EQ(all.at("headroom_gpu_memory_bytes").samples.at(runs), 15'000'000'010);
  EXPECT_EQ(all.at("headroom_gpu_memory_bytes").unit, "bytes");
  EXPECT_EQ(all.at("headroom_gpus_used").samples.at(runs), 1);
  EXPECT_FALSE(all.contains("headroom_cost_per_million_output_tokens")) << "no prices";
  const auto& finished = all.at("headroom_run_finished_timestamp_seconds").samples;
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_GT(finished.at({{"run", "nights"}}), 1.7e9);
}

TEST(OpenMetrics, HasCostsWithTheirCurrency) {
  Folder folder;
  RunInfo info = run_of({"a"}, {1}, {1});
  Digit& machine = info.grids[0].digits[4];
  machine.push_back(texts("currency", {"EUR"}));
  machine.push_back({"rent_per_hour", {1.8}});
  machine.push_back({"utilisation", {1.0}});
  info.grids[0].digits.push_back({numbers("prompt_tokens", {100})});
  info.grids[0].digits.push_back({numbers("output_tokens", {100})});
  const auto run = write(folder / "r.sqlite", info, {50});
  const Database database(folder / "r.sqlite");
  const auto all = metrics_of(database, run);
  const auto& costs = all.at("headroom_cost_per_million_output_tokens").samples;
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs.begin()->first.at("currency"), "EUR");
  const Source source = source_of(database, run);
  EXPECT_EQ(costs.begin()->second, *cheapest_output_cost(source.axes, source.lines.front()));
}

}  // namespace
}  // namespace headroom::report
