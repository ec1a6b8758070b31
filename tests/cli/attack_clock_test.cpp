// A clock that goes back while the program runs: results and runs are as with any other clock.
#include <gtest/gtest.h>

#include "bounded_process.hpp"
#include "report/read.hpp"
#include "tests/support/folder.hpp"

namespace headroom::test {
namespace {

/// The library of support/clock_backwards.cpp.
std::string clock_library() {
  return std::filesystem::path(program_path()).parent_path() / "tests/libclock_backwards.so";
}

TEST(AttackClock, EveryReadingIsAnHourEarlier) {
  if (is_sanitized) GTEST_SKIP() << "a sanitizer's library has to be loaded first";
  const Folder temporary;
  const std::filesystem::path folder = temporary.path();
  const auto sweep = [&](const std::string& out, const std::string& preload, const char* last) {
    return run_bounded({"sweep", source_path("tests/cli/data/small.toml"), "--out", out, last},
                       folder, {}, preload);
  };
  const auto csv = [&](const std::string& out) {
    return headroom::read_text_file(folder / out / "results.csv");
  };
  ASSERT_EQ(sweep("usual", "", "--fresh").code, 0);
  for (const char* last : {"--fresh", "--fresh", "--no-plots"}) {
    const Ended ended = sweep("back", clock_library(), last);
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ((ended.out + ended.err).find(" -"), std::string::npos)
        << "no negative time: " << ended.out << ended.err;
    EXPECT_EQ(csv("back"), csv("usual"));
  }
  const report::Database after(folder / "back" / "results.sqlite");
  const auto runs = after.runs();
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_GT(runs[0].started, runs[0].finished) << "the clock did go back";
  EXPECT_EQ(after.latest_run(), 3) << "runs are in the order in which they were made";
  EXPECT_EQ(runs[2].reused, runs[2].points);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"diff", "back"},
                                                  {"report", "back", "--runs"},
                                                  {"report", "back", "--format", "openmetrics"},
                                                  {"prune", "back", "--keep", "1"}}) {
    const Ended ended = run_bounded(command, folder, {}, clock_library());
    EXPECT_EQ(ended.code, 0) << command.front() << ended.err;
  }
  EXPECT_EQ(report::Database(folder / "back" / "results.sqlite").latest_run(), 3);
}

}  // namespace
}  // namespace headroom::test
