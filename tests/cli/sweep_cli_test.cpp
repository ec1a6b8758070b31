// Sweeps as processes: stopped, killed and gone on with; one thread and several; and every row
// equal to what `estimate` says of the same point.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/read.hpp"
#include "sweep_process.hpp"
#include "tests/support/paths.hpp"

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using headroom::report::Database;
using headroom::report::Table;
using headroom::report::Value;
using headroom::test::SweepProcess;

TEST_F(SweepProcess, StoppedAndKilledSweepsGoOnToTheSameContent) {
  ASSERT_EQ(run(sweep("whole")), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const std::string out = "signal" + std::to_string(signal);
    const pid_t child = start(sweep(out));
    wait_for_a_block(database(out));
    kill(child, signal);
    const int code = wait_for(child);
    EXPECT_EQ(code, signal == SIGKILL ? 128 + SIGKILL : 1);
    {
      const auto runs = Database(database(out)).runs();
      ASSERT_EQ(runs.size(), 1U);
      EXPECT_TRUE(runs[0].finished.empty());
    }
    ASSERT_EQ(run(sweep(out)), 0);
    const auto runs = Database(database(out)).runs();
    ASSERT_EQ(runs.size(), 1U) << "gone on with, not begun again";
    EXPECT_FALSE(runs[0].finished.empty());
    EXPECT_EQ(rows(out).rows, rows("whole").rows);
  }
}

TEST_F(SweepProcess, ContentDoesNotDependOnThreads) {
  ASSERT_EQ(run(sweep("one", "1")), 0);
  ASSERT_EQ(run(sweep("three", "3")), 0);
  const auto one = rows("one");
  EXPECT_GT(one.rows.size(), 90'000U);
  EXPECT_EQ(one.rows, rows("three").rows);
}

/// Every column of the row that is not the point's number equals the answer's.
void expect_equal_row(const Table& table, std::size_t row, const json::object& result) {
  std::size_t compared = 0;
  for (std::size_t i = 0; i < table.names.size(); ++i) {
    const std::string& name = table.names[i];
    if (name == "point") continue;
    if (!result.contains(name)) {  // columns of training alone are empty here
      EXPECT_TRUE(std::holds_alternative<std::monostate>(table.rows[row][i])) << name;
      continue;
    }
    ++compared;
    const json::value& ours = result.at(name);
    const Value& stored = table.rows[row][i];
    if (const auto* whole = std::get_if<std::int64_t>(&stored))
      EXPECT_EQ(ours.to_number<std::int64_t>(), *whole) << name << " of row " << row;
    else if (const auto* real = std::get_if<double>(&stored))
      EXPECT_DOUBLE_EQ(ours.to_number<double>(), *real)  // Boost 1.81 reads numbers to an ulp
          << name << " of row " << row;
    else if (const auto* word = std::get_if<std::string>(&stored))
      EXPECT_EQ(std::string(ours.as_string()), *word) << name << " of row " << row;
    else
      EXPECT_TRUE(ours.is_null()) << name << " of row " << row << ": " << ours;
  }
  EXPECT_EQ(compared, result.size());
}

/// The columns of a row that the answer has.
Table columns_of(const Table& table, std::size_t row, const json::object& result) {
  Table stored{{}, {{}}};
  for (std::size_t i = 0; i < table.names.size(); ++i)
    if (result.contains(table.names[i])) {
      stored.names.push_back(table.names[i]);
      stored.rows[0].push_back(table.rows[row][i]);
    }
  return stored;
}

TEST_F(SweepProcess, RowsEqualEstimates) {
  const std::string out = (folder / "small").string();
  ASSERT_EQ(run({"sweep", headroom::test::source_path("tests/cli/data/small.toml"), "--out", out}),
            0);
  const Database database(folder / "small" / "results.sqlite");
  const Table table = database.query("SELECT * FROM result", 1);
  std::mt19937 random(7);
  const auto cell = [&](std::size_t row, std::string_view name) {
    return headroom::report::text(table.rows[row][table.index(name)]);
  };
  for (int sample = 0; sample < 25; ++sample) {
    const std::size_t row = random() % table.rows.size();
    const fs::path answer = folder / "estimate.json";
    std::vector<std::string> arguments = {"estimate",        cell(row, "model"),
                                          "--precision",     cell(row, "precision"),
                                          "--kv-precision",  cell(row, "kv_precision"),
                                          "--batch",         cell(row, "batch"),
                                          "--prompt-tokens", cell(row, "prompt_tokens"),
                                          "--machine",       cell(row, "machine"),
                                          "--output-tokens", cell(row, "output_tokens"),
                                          "--runtime",       cell(row, "runtime"),
                                          "--format",        "json",
                                          "--out",           answer.string()};
    if (const auto budget = cell(row, "gpu_budget_bytes"); !budget.empty())
      arguments.insert(arguments.end(), {"--gpu-budget", budget == "0" ? "0" : budget + "B"});
    if (const auto context = cell(row, "context"); !context.empty())
      arguments.insert(arguments.end(), {"--context", context});
    const int code = run(arguments);
    const auto verdict = cell(row, "verdict");
    ASSERT_EQ(code, verdict == "does_not_fit" || verdict == "refused" ? 3 : 0);
    std::ifstream file(answer);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const json::value parsed = json::parse(text);
    const auto& result = parsed.at("result").as_object();
    expect_equal_row(table, row, result);

    // The row as CSV, to the last digit.
    *(std::ranges::find(arguments, "--format") + 1) = "csv";
    ASSERT_EQ(run(arguments), code);
    const Table stored = columns_of(table, row, result);
    std::ostringstream expected, found;
    headroom::report::write_csv(expected, stored);
    found << std::ifstream(answer).rdbuf();
    EXPECT_EQ(found.str(), expected.str());
  }
}

}  // namespace
