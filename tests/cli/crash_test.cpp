// Sweeps lose no data. A sweep may be killed or locked out, or meet a full disk or half a database.
// It ends in a clear error, or resumes to the content of an undisturbed run.
#include <sqlite3.h>
#include <sys/mount.h>

#include <algorithm>
#include <random>

#include "sweep_process.hpp"

namespace headroom::test {
namespace {

class Crash : public SweepProcess {
 protected:
  static std::string sql(const fs::path& file, const std::string& statement) {
    sqlite3* database = nullptr;
    sqlite3_open(file.c_str(), &database);
    std::string answer;
    const auto first = [](void* to, int count, char** values, char**) {
      if (count > 0 && values[0] && static_cast<std::string*>(to)->empty())
        *static_cast<std::string*>(to) = values[0];
      return 0;
    };
    char* problem = nullptr;
    sqlite3_exec(database, statement.c_str(), first, &answer, &problem);
    if (problem) answer = problem;
    sqlite3_free(problem);
    sqlite3_close(database);
    return answer;
  }
  static bool sound(const fs::path& file) { return sql(file, "PRAGMA integrity_check") == "ok"; }
  fs::path csv(const std::string& out) { return folder / out / "results.csv"; }
  std::vector<std::string> leftovers(const std::string& out) {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder / out))
      if (entry.path().extension() == ".tmp") found.push_back(entry.path().filename());
    return found;
  }

  /// Kills sweeps at random moments, `kills` times in total. Each is resumed or started again.
  void kill_at_random(int kills, unsigned seed) {
    ASSERT_EQ(run(sweep("whole")), 0);
    const std::string expected = headroom::read_text_file(csv("whole"));
    std::mt19937 random(seed);
    int killed = 0;
    for (int round = 0; killed < kills; ++round) {
      const std::string out = "killed" + std::to_string(round);
      // Two nights each: one that computes, one that takes the first one's rows.
      for (int night = 1; night <= 2; ++night)
        for (bool complete = false; !complete;) {
          auto command = sweep(out);
          if (night == 2 && round % 2 == 1) command.emplace_back("--fresh");
          const pid_t child = start(command);
          if (killed < kills) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
            kill(child, SIGKILL);
          }
          const int code = wait_for(child);
          if (code == 128 + SIGKILL) ++killed;
          if (fs::exists(database(out))) {
            ASSERT_TRUE(sound(database(out))) << "after kill " << killed;
          }
          complete = code == 0;
          ASSERT_TRUE(complete || code == 128 + SIGKILL) << code;
        }
      ASSERT_EQ(headroom::read_text_file(csv(out)), expected) << "round " << round;
      fs::remove_all(folder / out);
    }
    std::printf("%d sweeps were killed, and their content is that of an undisturbed one\n", killed);
  }
};
class LongCrash : public Crash {};

TEST_F(Crash, KilledTenTimesAtRandomMoments) { kill_at_random(10, 1); }
TEST_F(LongCrash, KilledAHundredTimesAtRandomMoments) { kill_at_random(100, 2); }

TEST_F(Crash, AFullDiskIsReportedAndRunsResume) {
  ASSERT_EQ(run(sweep("whole")), 0);
  const fs::path out = folder / "small";
  fs::create_directories(out);
  if (mount("none", out.c_str(), "tmpfs", 0, "size=2m") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  const auto [code, words] = ask(sweep("small"));
  const bool intact = sound(database("small"));
  const auto half = leftovers("small");
  mount("none", out.c_str(), "tmpfs", MS_REMOUNT, "size=500m");
  const int again = run(sweep("small"));
  const std::string found = headroom::read_text_file(csv("small"));
  umount(out.c_str());
  EXPECT_EQ(code, 1);
  EXPECT_NE(words.find("the disk is full"), std::string::npos) << words;
  EXPECT_TRUE(intact);
  EXPECT_TRUE(half.empty());
  EXPECT_EQ(again, 0);
  EXPECT_EQ(found, headroom::read_text_file(csv("whole")));
}

TEST_F(Crash, ReportsOnAFullDiskAreWholeOrAsTheyWere) {
  ASSERT_EQ(run(sweep("whole")), 0);
  const fs::path out = folder / "small";
  fs::create_directories(out);
  if (mount("none", out.c_str(), "tmpfs", 0, "size=1m") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  std::ofstream(csv("small")) << "of last night\n";
  const auto [code, words] =
      ask({"report", (folder / "whole").string(), "--out", out.string(), "--no-plots"});
  const std::string found = headroom::read_text_file(csv("small"));
  const auto half = leftovers("small");
  umount(out.c_str());
  EXPECT_EQ(code, 1);
  EXPECT_NE(words.find("results.csv: cannot be written"), std::string::npos) << words;
  EXPECT_EQ(found, "of last night\n");
  EXPECT_TRUE(half.empty());
}

TEST_F(Crash, ACompressedReportOnAFullDiskIsLeftOut) {
  ASSERT_EQ(run(sweep("whole")), 0);
  const fs::path out = folder / "small";
  fs::create_directories(out);
  if (mount("none", out.c_str(), "tmpfs", 0, "size=8k") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  const auto [code, words] = ask(
      {"report", (folder / "whole").string(), "--out", out.string(), "--no-plots", "--csv", "gz"});
  const auto half = leftovers("small");
  umount(out.c_str());
  EXPECT_EQ(code, 1);
  EXPECT_NE(words.find("results.csv.gz: cannot be written"), std::string::npos) << words;
  EXPECT_TRUE(half.empty());
}

TEST_F(Crash, TwoConcurrentSweeps) {
  const pid_t first = start(sweep("both"));
  wait_for_a_block(database("both"));
  kill(first, SIGSTOP);
  const auto [code, words] = ask(sweep("both"));
  kill(first, SIGCONT);
  EXPECT_EQ(code, 1);
  EXPECT_NE(words.find("another sweep is writing it"), std::string::npos) << words;
  EXPECT_EQ(wait_for(first), 0);
  EXPECT_TRUE(sound(database("both")));
}

TEST_F(Crash, ALockedDatabaseIsWaitedFor) {
  ASSERT_EQ(run(sweep("locked")), 0);
  sqlite3* other = nullptr;
  sqlite3_open(database("locked").c_str(), &other);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  const pid_t child = start(sweep("locked"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0) << "it waits";
  sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  EXPECT_EQ(wait_for(child), 0);
  sqlite3_close(other);
  EXPECT_EQ(Database(database("locked")).runs().size(), 2U);
}

TEST_F(Crash, ADatabaseCopiedHalfIsRefused) {
  ASSERT_EQ(run(sweep("whole")), 0);
  fs::create_directories(folder / "half");
  fs::copy_file(database("whole"), database("half"));
  fs::resize_file(database("half"), fs::file_size(database("half")) / 2);
  for (const auto& command :
       {std::vector<std::string>{"report", (folder / "half").string()}, sweep("half")}) {
    const auto [code, words] = ask(command);
    EXPECT_EQ(code, 1) << command.front();
    EXPECT_NE(words.find("damaged or cut off"), std::string::npos) << words;
  }
  EXPECT_FALSE(fs::exists(csv("half")));
}

TEST_F(Crash, RowsThatAreMissingAreNoReport) {
  ASSERT_EQ(run(sweep("whole")), 0);
  sql(database("whole"), "DELETE FROM outcome WHERE id % 1000 = 7");
  fs::remove(csv("whole"));
  const auto [code, words] = ask({"report", (folder / "whole").string(), "--no-plots"});
  EXPECT_EQ(code, 1);
  EXPECT_NE(words.find("where it should hold"), std::string::npos) << words;
  EXPECT_FALSE(fs::exists(csv("whole")));
}

TEST_F(Crash, AnExtentWithoutEndIsReadToTheEndOfTheGrid) {
  ASSERT_EQ(run(sweep("whole")), 0);
  const std::string before = headroom::read_text_file(csv("whole"));
  sql(database("whole"), "UPDATE extent SET last = last + (1 << 50)");
  fs::remove(csv("whole"));
  const auto [code, words] = ask({"report", (folder / "whole").string(), "--no-plots"});
  EXPECT_EQ(code, 0) << words;
  EXPECT_EQ(headroom::read_text_file(csv("whole")), before);
}

TEST_F(Crash, AnUnchangedNightKeepsItsTableUnlessItWasTouched) {
  ASSERT_EQ(run(sweep("nights")), 0);
  const std::string first = headroom::read_text_file(csv("nights"));
  const auto written = fs::last_write_time(csv("nights"));
  ASSERT_EQ(run(sweep("nights")), 0);
  EXPECT_EQ(fs::last_write_time(csv("nights")), written) << "the same content is not written again";
  EXPECT_EQ(headroom::read_text_file(csv("nights")), first);
  std::ofstream(csv("nights"), std::ios::app) << "an edit\n";
  ASSERT_EQ(run(sweep("nights")), 0);
  EXPECT_EQ(headroom::read_text_file(csv("nights")), first);
  fs::remove(csv("nights"));
  ASSERT_EQ(run(sweep("nights")), 0);
  EXPECT_EQ(headroom::read_text_file(csv("nights")), first);
}

TEST_F(Crash, AClockThatGoesBackwards) {
  ASSERT_EQ(run(sweep("clock")), 0);
  sql(database("clock"),
      "UPDATE run SET started = '2099-01-01T00:00:00Z', finished = "
      "'2099-01-01T00:00:01Z'");
  ASSERT_EQ(run(sweep("clock")), 0);
  const Database after(database("clock"));
  EXPECT_EQ(after.latest_run(), 2);
  EXPECT_EQ(after.summary(2).reused, after.summary(2).points);
  const auto [code, words] = ask({"diff", (folder / "clock").string()});
  EXPECT_EQ(code, 0);
  EXPECT_NE(words.find("run 2"), std::string::npos);
}

}  // namespace
}  // namespace headroom::test
