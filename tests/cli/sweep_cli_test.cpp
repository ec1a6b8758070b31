// Sweeps as processes: stopped, killed and gone on with; one thread and several; and every row
// equal to what `estimate` says of the same point.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <thread>

#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/read.hpp"

namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using headroom::report::Database;
using headroom::report::Table;
using headroom::report::Value;

class SweepProcess : public testing::Test {
 protected:
  SweepProcess()
      : folder(fs::temp_directory_path() / ("headroom_sweep_" + std::to_string(getpid()))) {
    fs::create_directories(folder);
  }
  ~SweepProcess() override { fs::remove_all(folder); }

  /// Starts the program with its output dropped.
  static pid_t start(std::vector<std::string> arguments) {
    const pid_t child = fork();
    if (child != 0) return child;
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(99);
    arguments.insert(arguments.begin(), HEADROOM_PROGRAM);
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(HEADROOM_PROGRAM, argv.data());
    _exit(99);
  }
  static int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int run(const std::vector<std::string>& arguments) { return wait_for(start(arguments)); }

  /// Until the database holds a block, so that there is something to go on from.
  void wait_for_a_block(const fs::path& database) {
    for (int i = 0; i < 2000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (!fs::exists(database)) continue;
      try {
        const auto runs = Database(database).runs();
        if (!runs.empty() && runs[0].points > 0) return;
      } catch (const std::exception&) {
        continue;  // not there yet
      }
    }
  }
  std::vector<std::string> sweep(const std::string& out, const std::string& jobs = "2") {
    const std::string spec = std::string(HEADROOM_TEST_DATA) + "/data/big.toml";
    return {"sweep", spec, "--out", (folder / out).string(), "--jobs", jobs};
  }
  fs::path database(const std::string& out) { return folder / out / "results.sqlite"; }
  /// Every outcome as text, in the order of the points.
  Table rows(const std::string& out) {
    return Database(database(out)).query("SELECT * FROM outcome ORDER BY id", 1);
  }
  fs::path folder;
};

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

TEST_F(SweepProcess, RowsEqualEstimates) {
  const std::string out = (folder / "small").string();
  ASSERT_EQ(run({"sweep", HEADROOM_TEST_DATA "/data/small.toml", "--out", out}), 0);
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
    const int code = run(arguments);
    const auto verdict = cell(row, "verdict");
    ASSERT_EQ(code, verdict == "does_not_fit" || verdict == "refused" ? 3 : 0);
    std::ifstream file(answer);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const json::value parsed = json::parse(text);
    const auto& result = parsed.at("result").as_object();
    std::size_t compared = 0;
    for (std::size_t i = 0; i < table.names.size(); ++i) {
      const std::string& name = table.names[i];
      if (name == "point") continue;
      ++compared;
      ASSERT_TRUE(result.contains(name)) << name;
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
    EXPECT_EQ(compared + 1, headroom::report::columns().size());

    // The same row as CSV, to the last digit.
    arguments[arguments.size() - (cell(row, "gpu_budget_bytes").empty() ? 3 : 5)] = "csv";
    ASSERT_EQ(run(arguments), code);
    Table stored{table.names, {table.rows[row]}};
    const std::size_t point = stored.index("point");
    stored.names.erase(stored.names.begin() + static_cast<std::ptrdiff_t>(point));
    stored.rows[0].erase(stored.rows[0].begin() + static_cast<std::ptrdiff_t>(point));
    std::ostringstream expected, found;
    headroom::report::write_csv(expected, stored);
    found << std::ifstream(answer).rdbuf();
    EXPECT_EQ(found.str(), expected.str());
  }
}

}  // namespace
