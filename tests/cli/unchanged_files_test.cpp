// Reports are as they were if no file of them, the database and the program have changed since.
#include <algorithm>

#include "unchanged_fixture.hpp"

namespace headroom::test {
namespace {

/// Puts the times of the last write back, as a careful editor could.
void edit_in_secret(const fs::path& file) {
  const auto date = fs::last_write_time(file);
  std::fstream in(file, std::ios::in | std::ios::out | std::ios::binary);
  const char last = [&] {
    in.seekg(-1, std::ios::end);
    return static_cast<char>(in.get());
  }();
  in.seekp(-1, std::ios::end);
  in.put(last == 'x' ? 'y' : 'x');
  in.close();
  fs::last_write_time(file, date);
}

TEST_F(Unchanged, EveryFileOfTheReports) {
  night();
  night({"--no-plots"});
  night();  // curves of all figures, and changes.md
  const auto whole = content();
  std::vector<std::string> names{"README.md"};
  for (const auto& [name, text] : whole) names.push_back(name);
  for (const char* part : {"results.csv", "index.html", "changes.md", ".png", "machines/", ".dat"})
    EXPECT_TRUE(std::ranges::any_of(names, [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    })) << part;
  const auto without_changes = [&](auto files) {
    files.erase("changes.md");  // they name the runs
    files.erase("index.html");
    return files;
  };
  for (const std::string& name : names) {
    EXPECT_TRUE(unchanged()) << "before " << name;
    edit_in_secret(out() / name);
    EXPECT_FALSE(unchanged()) << name << " is edited";
    EXPECT_EQ(without_changes(content()), without_changes(whole)) << name;
  }
  for (const std::string& name : {std::string("results.csv"), names.back(),
                                  std::string("README.md"), std::string("index.html")}) {
    fs::remove(out() / name);
    EXPECT_FALSE(unchanged()) << name << " is gone";
    EXPECT_EQ(without_changes(content()), without_changes(whole)) << name;
  }
  write("out/curves/other.png", "of somebody else");
  EXPECT_FALSE(unchanged());
  EXPECT_FALSE(fs::exists(out() / "curves" / "other.png"));
  write("out/notes.md", "my own");
  EXPECT_TRUE(unchanged()) << "no file of the reports";
}

TEST_F(Unchanged, TheDatabase) {
  night();
  EXPECT_TRUE(unchanged());
  sql("SELECT count(*) FROM result");
  EXPECT_TRUE(unchanged()) << "it was read";
  sql("UPDATE outcome SET tpot_s = 2 * tpot_s");
  const auto before = content();
  EXPECT_FALSE(unchanged());
  EXPECT_NE(content().at("results.csv"), before.at("results.csv"));
  EXPECT_TRUE(unchanged());
  // An edit that is in sqlite's log alone.
  sqlite3* other = nullptr;
  sqlite3_open((out() / "results.sqlite").c_str(), &other);
  ASSERT_EQ(
      sqlite3_exec(other, "UPDATE outcome SET tpot_s = 3 * tpot_s", nullptr, nullptr, nullptr),
      SQLITE_OK);
  EXPECT_FALSE(unchanged());
  EXPECT_TRUE(unchanged()) << "the log is still there";
  sqlite3_close(other);
  fs::remove(out() / "results.sqlite");
  EXPECT_FALSE(unchanged());
  EXPECT_EQ(runs().size(), 1U);
}

TEST_F(Unchanged, PruningIsNoChangeUnlessTheDatabaseHadChanged) {
  for (int i = 0; i < 4; ++i) night();
  ASSERT_EQ(run({"prune", out().string(), "--keep", "2"}), 0);
  EXPECT_EQ(runs().size(), 2U);
  EXPECT_TRUE(unchanged()) << "the run that computed its points is gone, its rows are not";
  sql("UPDATE outcome SET tpot_s = 2 * tpot_s");
  ASSERT_EQ(run({"prune", out().string(), "--keep", "2"}), 0);
  EXPECT_FALSE(unchanged());
}

TEST_F(Unchanged, ReportsAreNotWrittenTwice) {
  night();
  const auto report = [&](const std::vector<std::string>& also = {}) {
    std::vector<std::string> command{"report", out().string()};
    command.insert(command.end(), also.begin(), also.end());
    const auto [code, words] = ask(command);
    EXPECT_EQ(code, 0) << words;
    EXPECT_NE(words.find((out() / "results.csv").string()), std::string::npos) << words;
    return words.find("nothing changed") == std::string::npos;
  };
  EXPECT_FALSE(report());
  const auto whole = content();
  for (const auto& [name, text] : whole) {
    edit_in_secret(out() / name);
    EXPECT_TRUE(report()) << name;
    EXPECT_EQ(content(), whole) << name;
  }
  EXPECT_FALSE(report());
  EXPECT_TRUE(unchanged()) << "the report said what the run was made from";
  EXPECT_TRUE(report()) << "of the run that repeats it";
  EXPECT_TRUE(unchanged());
  EXPECT_FALSE(report({"--run", "2"}));
  EXPECT_TRUE(report({"--run", "1"}));
  EXPECT_FALSE(unchanged()) << "an older run is shown";
}

TEST_F(Unchanged, AnotherProgram) {
  const fs::path copy = folder / "headroom";
  fs::copy_file(program_path(), copy);
  const auto night_of_copy = [&] {
    const std::string call = copy.string() + " sweep " + (folder / "nights.toml").string() +
                             " --out " + out().string() + " >" + (folder / "copy.txt").string();
    EXPECT_EQ(std::system(call.c_str()), 0);
    return unbroken(read_text_file((folder / "copy.txt").string()))
               .find("nothing changed since run") != std::string::npos;
  };
  EXPECT_FALSE(night_of_copy());
  EXPECT_TRUE(night_of_copy());
  const auto date = fs::last_write_time(copy);
  std::ofstream(copy, std::ios::app) << 'x';
  fs::last_write_time(copy, date);
  EXPECT_FALSE(night_of_copy());
  EXPECT_TRUE(night_of_copy());
  EXPECT_FALSE(unchanged()) << "the program of the build";
}

}  // namespace
}  // namespace headroom::test
