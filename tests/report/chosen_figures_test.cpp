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
  const std::vector<fs::path> kept{machine, out / "compatibility.csv", out / "compatibility.md",
                                   out / "precision.md", out / "index.html"};
  for (const auto& file : kept) fs::last_write_time(file, long_ago);
  fs::last_write_time(out / "README.md", long_ago);
  write_reports(Database(folder / "r.sqlite"), 1, out, Figures::skip);
  for (const auto& file : kept) EXPECT_EQ(fs::last_write_time(file), long_ago) << file;
  EXPECT_GT(fs::last_write_time(out / "README.md"), long_ago) << "says that all are complete";
  std::ofstream(machine, std::ios::app) << "x";
  const auto size = fs::file_size(machine);
  write_reports(Database(folder / "r.sqlite"), 1, out, Figures::skip);
  EXPECT_EQ(fs::file_size(machine), size - 1);
}

/// Runs of one name and the same axes in one file, each with its own report.
TEST(Report, AnotherSpeedUnderTheSameNamesIsWrittenAnew) {
  const Folder folder;
  const fs::path file = folder / "r.sqlite", out = folder / "out";
  add_run(file, 8, 1, "a");
  write_reports(Database(file), 1, out, Figures::draw);
  const auto content = [&](const char* name) {
    std::ifstream in(out / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const char* curve = "curves/m7.1x_card_host.engine.dat";
  const char* other = "curves/m3.1x_card_host.engine.dat";
  const std::string before = content(curve), unmoved = content(other);
  const std::string table = content("compatibility.csv");
  add_run(file, 8, 2, "a");  // nothing but the rows differs
  write_reports(Database(file), 2, out, Figures::draw);
  EXPECT_NE(content(curve), before);
  EXPECT_EQ(content(other), unmoved);
  EXPECT_NE(content("compatibility.csv"), table);
  EXPECT_NE(content("changes.md").find("m7"), std::string::npos);
}

/// A later run that stands in the rows of the one before, as a repeated night does.
TEST(Source, OfTheSameRowsIsTheSame) {
  const Folder folder;
  const fs::path file = folder / "r.sqlite";
  add_run(file, 8, 1, "a");
  {
    const Database database(file);
    const RunInfo info = database.run(1);
    const Extent all = database.extents(1).front();
    Store store(file);
    store.begin_run(info, Unfinished::leave);
    const RowRange piece{0, info.points(), all.row};
    store.append({&piece, 1}, {}, {}, info.points());
    store.finish_run();
    store.keep_longest_contexts(std::vector<std::pair<Size, Size>>{{3, 4096}});
  }
  add_run(file, 8, 2, "a");
  const Database database(file);
  const Source first = source_of(database, 1);
  const auto speeds = [](const Source& source) {
    std::vector<double> all;
    for (const ModelRow& line : source.lines)
      for (const BudgetPoint& entry : line.entries) all.push_back(entry.estimate.tokens_s);
    return all;
  };
  const auto contexts = [](const Source& source) {
    std::vector<std::optional<Size>> all;
    for (const ModelRow* line : source.shown) all.push_back(line->roomiest().longest_context);
    return all;
  };
  const Source same = source_of(2, first), alone = source_of(database, 2);
  EXPECT_EQ(speeds(same), speeds(alone));
  EXPECT_EQ(contexts(same), contexts(alone)) << "they are of the run, not of its rows";
  EXPECT_NE(contexts(same), contexts(first));
  EXPECT_EQ(same.shown.size(), first.shown.size());
  EXPECT_EQ(speeds(source_of(3, first)), speeds(source_of(database, 3)));
  EXPECT_NE(speeds(source_of(3, first)), speeds(first));
}

}  // namespace
}  // namespace headroom::report
