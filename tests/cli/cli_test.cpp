// The program keeps its promises: cases.txt has one case a line, mistakes.txt one usual mistake.
// Each runs in a folder of its own, with $DATA naming tests/cli/data.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/plurals.hpp"
#include "tests/support/unbroken.hpp"

namespace {

namespace fs = std::filesystem;

struct Case {
  int line = 0, exit_code = 0;
  std::string command;
  std::vector<std::string> out, err;  ///< fragments; err empty: silent
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.command; }

std::vector<std::string> split(const std::string& text, const std::string& by) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(by, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + by.size();
  }
  return parts;
}

/// True if `text` has `fragment`, as it stands or over several lines.
bool says(const std::string& text, const std::string& fragment) {
  return text.find(fragment) != std::string::npos ||
         headroom::test::unbroken(text).find(fragment) != std::string::npos;
}

/// A pipe in a command is written "\\|".
std::string unescaped(std::string command) {
  for (auto at = command.find("\\|"); at != std::string::npos; at = command.find("\\|", at))
    command.erase(at, 1);
  return command;
}

std::vector<Case> cases_of(const std::string& name) {
  std::ifstream file(headroom::test::source_path("tests/cli/" + name));
  std::vector<Case> all;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    if (text.empty() || text[0] == '#') continue;
    const auto fields = split(text, " | ");
    Case c{line, std::stoi(fields.at(0)), unescaped(fields.at(1)), {}, {}};
    if (fields.size() > 2 && fields[2] != "-") c.out = split(fields[2], " & ");
    if (fields.size() > 3) c.err = split(fields[3], " & ");
    all.push_back(c);
  }
  return all;
}

class Cli : public testing::TestWithParam<Case> {
 protected:
  const headroom::test::Folder temporary;
  const fs::path folder = temporary.path();

  struct Ran {
    int status = 0;
    std::string out, err;
  };
  Ran run(const std::string& command) const {
    std::ofstream(folder / ".sh") << "cd " << folder << "\nexport DATA="
                                  << headroom::test::source_path("tests/cli/data")
                                  << "\nexport EXAMPLES=" << headroom::test::source_path("examples")
                                  << "\nexport HF_HUB_OFFLINE=1 HOME=" << folder << '\n'
                                  << "headroom() { " << headroom::test::program_path()
                                  << " \"$@\"; }\n"
                                  << "export PATH=$(dirname " << headroom::test::program_path()
                                  << "):$PATH\n"
                                  << command << '\n';
    const std::string call = "bash " + (folder / ".sh").string() + " >" +
                             (folder / ".out").string() + " 2>" + (folder / ".err").string();
    const int status = std::system(call.c_str());
    return {status, headroom::read_text_file(folder / ".out"),
            headroom::read_text_file(folder / ".err")};
  }
};

TEST_P(Cli, Case) {
  const Case& c = GetParam();
  const auto [status, out, err] = run(c.command);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by a signal\n" << err;
  EXPECT_EQ(WEXITSTATUS(status), c.exit_code) << c.command << '\n' << out << err;
  for (const auto& fragment : c.out)
    EXPECT_TRUE(says(out, fragment)) << "no '" << fragment << "' in\n" << out;
  for (const auto& fragment : c.err)
    EXPECT_TRUE(says(err, fragment)) << "no '" << fragment << "' in\n" << err;
  for (const std::string& text : {out, err})
    EXPECT_EQ(headroom::test::wrong_plural(text), "") << c.command << '\n' << text;
  if (c.err.empty()) {
    EXPECT_EQ(err, "") << c.command;
  } else {
    EXPECT_TRUE(c.exit_code == 0 || c.exit_code == 3 || out.empty()) << "data beside a failure\n"
                                                                     << out;
  }
}

INSTANTIATE_TEST_SUITE_P(, Cli, testing::ValuesIn(cases_of("cases.txt")),
                         [](const auto& one) { return "line_" + std::to_string(one.param.line); });

/// A mistake has a short answer, on whichever stream.
class Mistakes : public Cli {};

TEST_P(Mistakes, HaveAShortAnswer) {
  const Case& c = GetParam();
  const auto [status, out, err] = run(c.command);
  ASSERT_TRUE(WIFEXITED(status)) << "killed by a signal\n" << err;
  EXPECT_EQ(WEXITSTATUS(status), c.exit_code) << c.command << '\n' << out << err;
  const std::string all = out + err;
  std::string says;  // lines are broken anywhere
  for (const auto word : headroom::words(all, " \n"))
    says += (says.empty() ? "" : " ") + std::string(word);
  for (const auto& fragment : c.out)
    EXPECT_NE(says.find(fragment), std::string::npos) << "no '" << fragment << "' in\n" << says;
  EXPECT_EQ(headroom::test::wrong_plural(all), "") << all;
  constexpr std::size_t most = 500;  // five rows of a screen
  EXPECT_LE(says.size(), most) << says;
}

INSTANTIATE_TEST_SUITE_P(, Mistakes, testing::ValuesIn(cases_of("mistakes.txt")),
                         [](const auto& one) { return "line_" + std::to_string(one.param.line); });

}  // namespace
