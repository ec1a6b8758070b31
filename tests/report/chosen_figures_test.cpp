// Which curves a report draws, and that those of an earlier one go away.
#include "report/chosen_figures.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <set>

#include "fixture.hpp"

namespace headroom::report {
namespace {

namespace fs = std::filesystem;

/// `models` models, each with a curve of four budgets. Model 7 is faster by `factor`.
void add_run(const fs::path& file, int models, double factor, const std::string& fingerprint) {
  std::vector<std::string> names;
  for (int m = 0; m < models; ++m) names.push_back("m" + std::to_string(m));
  const RunInfo info{"many",
                     "spec",
                     fingerprint,
                     "0.1.0",
                     {{{{texts("task", {"inference"})},
                        {texts("model", names)},
                        {texts("precision", {"bf16"})},
                        {texts("machine", {"1x card @ host"}), numbers("gpus", {1})},
                        {numbers("gpu_budget_bytes", {0, 1 << 30, 2 << 29, 3 << 29})},
                        runtime("engine")}}}};
  std::vector<model::Estimate> all = made_up(0, info.points());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].verdict = model::Verdict::fits_one_gpu;
    all[i].tokens_s = i / 4 == 7 ? factor : 1;
  }
  Store store(file);
  store.begin_run(info);
  store.append(0, all);
  store.finish_run();
}

TEST(ChosenFigures, AllWhereTheyAreFew) {
  const Folder folder;
  add_run(folder / "r.sqlite", 40, 1, "a");
  const Database database(folder / "r.sqlite");
  EXPECT_EQ(chosen_figures(source_of(database, 1), nullptr, false).figures.size(), 40U);
}

TEST(ChosenFigures, AFirstRunShowsSomeOfEveryPart) {
  const Folder folder;
  add_run(folder / "r.sqlite", 100, 1, "a");
  const Database database(folder / "r.sqlite");
  const Source source = source_of(database, 1);
  const auto some = chosen_figures(source, nullptr, false);
  EXPECT_EQ(some.figures.size(), 40U);
  EXPECT_EQ(some.left_out, 60U);
  EXPECT_EQ(some.figures.front().stem, "m0.1x_card_host.engine");
  EXPECT_GT(some.figures.back().stem, "m95");
  EXPECT_EQ(chosen_figures(source, nullptr, true).figures.size(), 100U);
}

TEST(ChosenFigures, ALaterRunShowsWhatChanged) {
  const Folder folder;
  add_run(folder / "r.sqlite", 100, 1, "a");
  add_run(folder / "r.sqlite", 100, 2, "b");
  const Database database(folder / "r.sqlite");
  const Source before = source_of(database, 1);
  const auto changed = chosen_figures(source_of(database, 2), &before, false);
  ASSERT_EQ(changed.figures.size(), 1U);
  EXPECT_EQ(changed.figures.front().stem, "m7.1x_card_host.engine");
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& file : fs::directory_iterator(folder)) names.insert(file.path().filename());
  return names;
}

TEST(Report, RemovesFilesOfAnEarlierOneAlone) {
  const Folder folder;
  add_run(folder / "r.sqlite", 2, 1, "a");
  const Database database(folder / "r.sqlite");
  const fs::path out = folder / "out";
  fs::create_directories(out / "machines");
  std::ofstream(out / "machines" / "mine.md") << "notes";
  write_reports(database, 1, out, Figures::skip);
  EXPECT_EQ(names_in(out / "machines"), (std::set<std::string>{"1x_card_host.md", "mine.md"}));
  // Now the folder is a report's.
  fs::create_directories(out / "curves");
  std::ofstream(out / "curves" / "old.png") << "old";
  std::ofstream(out / "curves" / "own.txt") << "own";
  write_reports(database, 1, out, Figures::skip);
  EXPECT_EQ(names_in(out / "machines"), (std::set<std::string>{"1x_card_host.md"}));
  EXPECT_EQ(names_in(out / "curves"), (std::set<std::string>{"own.txt"}));
}

TEST(Report, AFileWithTheSameContentStays) {
  const Folder folder;
  add_run(folder / "r.sqlite", 2, 1, "a");
  const fs::path out = folder / "out", machine = out / "machines" / "1x_card_host.md";
  write_reports(Database(folder / "r.sqlite"), 1, out, Figures::skip);
  const auto long_ago = fs::last_write_time(machine) - std::chrono::hours(24);
  for (const auto& file : {machine, out / "precision.md", out / "README.md"})
    fs::last_write_time(file, long_ago);
  write_reports(Database(folder / "r.sqlite"), 1, out, Figures::skip);
  EXPECT_EQ(fs::last_write_time(machine), long_ago);
  EXPECT_EQ(fs::last_write_time(out / "precision.md"), long_ago);
  EXPECT_GT(fs::last_write_time(out / "README.md"), long_ago) << "says that all are complete";
  std::ofstream(machine, std::ios::app) << "x";
  const auto size = fs::file_size(machine);
  write_reports(Database(folder / "r.sqlite"), 1, out, Figures::skip);
  EXPECT_EQ(fs::file_size(machine), size - 1);
}

}  // namespace
}  // namespace headroom::report
