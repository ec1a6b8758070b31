// Databases with flipped bits, ranges of zeros and cut ends. Every command that opens one ends
// within its bounds, with an exit code of the program and a message.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "bounded_process.hpp"
#include "mutation.hpp"
#include "tests/support/folder.hpp"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

class AttackDatabases : public testing::Test {
 protected:
  /// Two runs of `spec` in one database, and the first of them in two shards.
  void prepare(const std::string& spec) {
    const auto sweep = [&](std::vector<std::string> more) {
      std::vector<std::string> all = {"sweep", source_path(spec), "--jobs", "1"};
      all.insert(all.end(), more.begin(), more.end());
      const Ended ended = run_bounded(all, folder);
      ASSERT_EQ(ended.code, 0) << ended.err;
    };
    sweep({"--out", "whole"});
    sweep({"--out", "whole", "--fresh"});
    sweep({"--out", "shards", "--shard", "1/2"});
    sweep({"--out", "shards", "--shard", "2/2"});
  }

  /// Tries `count` changes of the database, from number `first` on, each by one command.
  void attack(const std::string& spec, unsigned first, unsigned count) {
    prepare(spec);
    if (HasFatalFailure()) return;
    const std::string whole = headroom::read_text_file(folder / "whole" / "results.sqlite");
    const std::string shard =
        headroom::read_text_file(folder / "shards" / "shards" / "1-of-2.sqlite");
    const std::vector<std::vector<std::string>> commands = {
        {"report", "changed", "--no-plots"},
        {"sweep", source_path(spec), "--jobs", "1", "--out", "changed"},
        {"diff", "changed"},
        {"report", "changed", "--where", "verdict <> 'x'"},
        {"report", "changed", "--runs"},
        {"report", "changed", "--format", "openmetrics"},
        {"prune", "changed", "--keep", "1"},
        {"merge", "shards", "--no-plots", "--out", "merged"}};
    std::map<int, int> codes;
    for (unsigned number = first; number < first + count; ++number) {
      const auto& command = commands[number % commands.size()];
      const bool merges = command.front() == "merge";
      for (const char* written : {"changed", "merged"}) fs::remove_all(folder / written);
      fs::create_directories(folder / "changed");
      std::ofstream(folder / (merges ? "shards/shards/1-of-2.sqlite" : "changed/results.sqlite"),
                    std::ios::binary)
          << Mutation::bytes(merges ? shard : whole, number);
      const Ended ended = run_bounded(command, folder);
      ++codes[ended.code];
      EXPECT_EQ(fault(ended), "") << command.front() << " of number " << number << ": "
                                  << ended.err.substr(0, 500);
    }
    for (const auto& [code, times] : codes) std::printf("exit code %d: %d times\n", code, times);
  }
  const Folder temporary;
  const fs::path folder = temporary.path();
};
class LongAttackDatabases : public AttackDatabases {};

TEST_F(AttackDatabases, EndWithAMessage) { attack("tests/cli/data/small.toml", 0, 240 / stride); }
TEST_F(AttackDatabases, OfTrainingEndWithAMessage) {
  attack("tests/cli/data/training.toml", 0, 80 / stride);
}
TEST_F(LongAttackDatabases, EndWithAMessage) { attack("tests/cli/data/small.toml", 1000, tries()); }
TEST_F(LongAttackDatabases, OfTrainingEndWithAMessage) {
  attack("tests/cli/data/training.toml", 1000, tries());
}

}  // namespace
}  // namespace headroom::test
