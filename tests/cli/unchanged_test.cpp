// A night on which nothing has changed leaves the reports as they are. Any change of what a run is
// made from ends that.
#include <array>

#include "unchanged_fixture.hpp"

namespace headroom::test {
namespace {

TEST_F(Unchanged, ReportsAreAsTheyWereAndTheRunIsStored) {
  EXPECT_FALSE(unchanged());
  const auto first = content();
  const std::string readme = read_text_file((out() / "README.md").string());
  EXPECT_GT(first.size(), 12U) << "tables, page and curves";
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(unchanged());
  EXPECT_EQ(content(), first);
  EXPECT_EQ(read_text_file((out() / "README.md").string()).substr(0, readme.rfind("\n<!--")),
            readme.substr(0, readme.rfind("\n<!--")));
  const auto all = runs();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[3].reused, all[0].points);
  EXPECT_EQ(all[3].points, all[0].points);
  EXPECT_EQ(all[3].fingerprint, all[0].fingerprint);
  const Database database(out() / "results.sqlite");
  const auto rows = [&](int run) {
    return database
        .query("SELECT * FROM result_all WHERE run = " + std::to_string(run) + " ORDER BY point", 1)
        .rows;
  };
  auto repeated = rows(4);
  for (auto& row : repeated) row[0] = std::int64_t{1};
  EXPECT_EQ(repeated, rows(1));
  EXPECT_FALSE(database.longest_contexts(1).empty());
  EXPECT_EQ(database.longest_contexts(4), database.longest_contexts(1));
  const auto [code, words] =
      ask({"diff", out().string(), "--fail-if", "new.tokens_s <> old.tokens_s"});
  EXPECT_EQ(code, 0) << words;
}

TEST_F(Unchanged, AnAlertIsGivenOnce) {
  night();
  replace("card.toml", "bandwidth_gbs = 300", "bandwidth_gbs = 100");
  const std::vector<std::string> diff{"diff", out().string(), "--fail-if",
                                      "new.best_tokens_s < 0.95 * old.best_tokens_s"};
  EXPECT_FALSE(unchanged());
  EXPECT_EQ(run(diff), 3);
  EXPECT_TRUE(unchanged());
  EXPECT_EQ(run(diff), 0);
}

TEST_F(Unchanged, TheLogHasTheSameFigures) {
  night();
  const std::string line = night({"--log-format", "json"});
  for (const auto* part :
       {"\"event\":\"run\"", "\"run\":2", "\"computed\":0", "\"files\":0", "\"unchanged_since\":1"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
}

TEST_F(Unchanged, EveryFileThatARunIsMadeFrom) {
  write("factors.toml", read_text_file(source_path("tests/cli/data/factors.toml")));
  const std::vector<std::string> with{"--factors", (folder / "factors.toml").string()};
  night(with);
  const std::vector<std::array<std::string, 3>> changes{
      {"nights.toml", "'50%-100%+25%'", "'50%-100%+50%'"},
      {"nights.toml", "[prices]", "# a remark\n[prices]"},
      {"tiny/config.json", "\"num_hidden_layers\": 4", "\"num_hidden_layers\": 5"},
      {"card.toml", "bandwidth_gbs = 300", "bandwidth_gbs = 301"},
      {"card.toml", "source = \"made up\"", "source = \"invented\""},
      {"prices.toml", "buy = 1800", "buy = 1801"},
      {"engines.toml", "memory.utilization = 0.8", "memory.utilization = 0.7"},
      {"factors.toml", "value = 2e9", "value = 2.1e9"}};
  for (const auto& [file, old, now] : changes) {
    EXPECT_TRUE(unchanged(with)) << "before " << now;
    replace(file, old, now);
    EXPECT_FALSE(unchanged(with)) << now;
  }
  EXPECT_TRUE(unchanged(with));
}

TEST_F(Unchanged, EveryOptionWithAnEffect) {
  night();
  const std::string more = (folder / "more.toml").string();
  write("more.toml", night_card);
  replace("more.toml", "own-card", "another-card");
  for (const std::vector<std::string>& also : {std::vector<std::string>{"--no-plots"},
                                               {"--csv", "gz"},
                                               {"--csv", "zst"},
                                               {"--csv", "none"},
                                               {"--set", "decode_bandwidth=0.5"},
                                               {"--hardware", more},
                                               {"--prices", (folder / "prices.toml").string()}}) {
    EXPECT_FALSE(unchanged(also)) << also.front();
    EXPECT_TRUE(unchanged(also)) << also.front();
  }
  EXPECT_FALSE(unchanged());
  EXPECT_TRUE(unchanged({"--jobs", "1", "--log-format", "text"}));
  EXPECT_FALSE(unchanged({"--fresh"}));
  EXPECT_EQ(runs().back().reused, 0) << "every point is computed";
  EXPECT_TRUE(unchanged()) << "which makes the same points";
}

TEST_F(Unchanged, WithAndWithoutGnuplot) {
  night();
  EXPECT_TRUE(unchanged());
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_FALSE(unchanged());
  EXPECT_TRUE(unchanged());
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(unchanged());
}

TEST_F(Unchanged, AnErrorInTheSpecIsStillAnError) {
  night();
  replace("nights.toml", "'gpt2', ", "'no-such-model', ");
  EXPECT_EQ(ask({"sweep", (folder / "nights.toml").string(), "--out", out().string()}).first, 2);
  EXPECT_EQ(runs().size(), 1U);
  replace("nights.toml", "'no-such-model', ", "'gpt2', ");
  fs::remove_all(folder / "tiny");
  EXPECT_NE(ask({"sweep", (folder / "nights.toml").string(), "--out", out().string()}).first, 0);
  EXPECT_EQ(runs().size(), 1U);
}

}  // namespace
}  // namespace headroom::test
