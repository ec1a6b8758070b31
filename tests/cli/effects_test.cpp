// No option is inert: each flag of each command changes the output or is refused. effects.txt has
// one row a flag. Lines that only repeat the flag ("Assumes …") do not count.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hardware/text_file.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"

namespace {

namespace fs = std::filesystem;

struct Effect {
  int line = 0;
  std::string flag, without, added;
  bool refused = false;  ///< the flag is an error here
  bool elsewhere = false;
};

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

/// By command.
std::map<std::string, std::vector<Effect>> effects() {
  std::ifstream file(headroom::test::source_path("tests/cli/effects.txt"));
  std::map<std::string, std::vector<Effect>> all;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text[0] == '#') continue;
    std::vector<std::string> fields;
    for (std::size_t at = 0; at <= text.size();) {
      const auto end = std::min(text.find(" |", at), text.size());
      fields.push_back(trimmed(text.substr(at, end - at)));
      at = end + 2;
    }
    Effect effect{line, "", fields.at(2), fields.at(3)};
    effect.elsewhere = effect.added.starts_with("elsewhere:");
    effect.refused = effect.added.starts_with("refused: ");
    if (effect.refused) effect.added.erase(0, 9);
    for (const auto& command : words(fields.at(0)))
      for (const auto& flag : words(fields.at(1))) {
        effect.flag = flag;
        all[command].push_back(effect);
      }
  }
  return all;
}

struct Said {
  int code = 0;
  std::string text;  ///< both streams and all files, without what only repeats the command line
  bool operator==(const Said&) const = default;
};

/// Without lines that repeat options, names of the folder, dates, durations and rates of the run.
std::string figures(const std::string& text, const std::string& folder) {
  std::istringstream lines(text);
  std::string all;
  for (std::string line; std::getline(lines, line);) {
    for (auto at = line.find(folder); at != std::string::npos; at = line.find(folder))
      line.erase(at, folder.size());
    const bool repeats =
        std::ranges::any_of(std::vector<std::string>{"Assumes", "Machine", "Model", "Warning"},
                            [&](const std::string& word) { return line.starts_with(word); });
    if (!repeats) all += line + '\n';
  }
  static const std::regex taken(R"(in [0-9.]+ ?m?s\b)"), rate(R"([0-9.e+]+ points/s)"),
      date(R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z)");
  all = std::regex_replace(all, taken, "in T");
  return std::regex_replace(std::regex_replace(all, rate, "R points/s"), date, "D");
}

Said said(std::string arguments) {
  const headroom::test::Folder temporary;
  const fs::path& folder = temporary.path();
  std::string setup;
  if (const auto at = arguments.find("DATABASE"); at != std::string::npos) {
    arguments.replace(at, 8, "out/small");
    setup = "for i in 1 2; do headroom sweep $DATA/small.toml --no-plots >/dev/null; done\n";
  }
  std::ofstream(folder / ".sh") << "cd " << folder
                                << "\nexport DATA=" << headroom::test::source_path("tests/cli/data")
                                << "\nexport HF_ENDPOINT=http://127.0.0.1:9 HOME=" << folder << '\n'
                                << "headroom() { " << headroom::test::program_path()
                                << " \"$@\"; }\n"
                                << setup << "headroom " << arguments << '\n';
  const std::string call = "bash " + (folder / ".sh").string() + " >" + (folder / ".out").string() +
                           " 2>" + (folder / ".err").string();
  const int status = std::system(call.c_str());
  Said result{WIFEXITED(status) ? WEXITSTATUS(status) : 99, ""};
  std::set<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != ".sh") files.insert(entry.path());
  for (const auto& file : files) {
    result.text += file.lexically_relative(folder).string() + '\n';
    if (file.extension() != ".sqlite")
      result.text += figures(headroom::read_text_file(file), folder.string());
  }
  return result;
}

class Effects : public testing::TestWithParam<std::string> {};

TEST_P(Effects, OfEveryFlag) {
  const std::string& command = GetParam();
  const auto all = effects();
  for (const Effect& effect : all.at(command)) {
    if (effect.elsewhere) continue;
    SCOPED_TRACE("effects.txt:" + std::to_string(effect.line) + ": " + command + ' ' +
                 effect.without + ' ' + effect.added);
    const Said before = said(command + ' ' + effect.without);
    const Said after = said(command + ' ' + effect.without + ' ' + effect.added);
    // A crash would look like an effect.
    for (const int code : {before.code, after.code}) EXPECT_LE(code, 3);
    EXPECT_FALSE(before == after) << "--" << effect.flag << " changes nothing\n" << after.text;
    EXPECT_EQ(after.code == 2, effect.refused) << after.text;
  }
}

/// `added` with `nonsense` for the value of the flag; empty: it is a switch, or has no value there.
std::string with_nonsense(const Effect& effect, const std::string& nonsense) {
  const std::regex value("(--" + effect.flag + R"re([ =])("[^"]*"|'[^']*'|[^-\s]\S*))re");
  std::smatch found;
  if (!std::regex_search(effect.added, found, value)) return {};
  return found.prefix().str() + found[1].str() + nonsense + found.suffix().str();
}

/// An error about a value names the flag and the value, whoever finds it.
TEST_P(Effects, NonsenseIsAnErrorThatNamesItsFlag) {
  std::set<std::string> asked;
  const auto all = effects();
  for (const Effect& effect : all.at(GetParam())) {
    if (effect.elsewhere || !asked.insert(effect.flag).second) continue;
    for (const std::string nonsense : {"xyzzy", "99999999999999999999", "nan"}) {
      const std::string added = with_nonsense(effect, nonsense);
      if (added.empty()) continue;
      SCOPED_TRACE(GetParam() + ' ' + effect.without + ' ' + added);
      const Said answer = said(GetParam() + ' ' + effect.without + ' ' + added);
      EXPECT_LE(answer.code, 3);
      if (answer.code != 1 && answer.code != 2) continue;  // a path or a name of one's own
      EXPECT_NE(answer.text.find("--" + effect.flag), std::string::npos) << answer.text;
      EXPECT_NE(answer.text.find(nonsense), std::string::npos) << answer.text;
    }
  }
}

/// Nobody adds a flag without showing its effect.
TEST_P(Effects, HaveARowForEveryFlag) {
  const std::string help = said(GetParam() + " --help-all").text;
  std::set<std::string> listed, shown{"help", "help-all"};
  static const std::regex option(R"(\n  --([a-z0-9-]+))");
  for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it)
    listed.insert((*it)[1]);
  const auto all = effects();
  for (const Effect& effect : all.at(GetParam())) shown.insert(effect.flag);
  EXPECT_GT(listed.size(), 2u);
  EXPECT_EQ(listed, shown);
}

INSTANTIATE_TEST_SUITE_P(, Effects,
                         testing::Values("params", "estimate", "place", "curve", "sweep", "plan",
                                         "launch", "report", "diff", "merge", "prune", "models",
                                         "hardware", "runtimes", "calibrate", "accuracy", "doctor",
                                         "completion", "man"),
                         [](const auto& one) { return one.param; });

}  // namespace
