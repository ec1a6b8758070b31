// Only sweep/ mentions flags. The libraries below it return reasons and advice as values.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "sweep/options/flags.hpp"
#include "tests/support/paths.hpp"

namespace headroom::sweep {
namespace {

std::vector<std::filesystem::path> sources_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
      all.push_back(entry.path());
  return all;
}

/// The flags of this program in the string literals of `code`. A value after '=' belongs to another
/// program, for example nvidia-smi's --format=csv.
std::vector<std::string> flags_in_literals(const std::string& code) {
  static const auto known = [] {
    auto all = spellings();
    for (const Flag& flag : flags()) all.push_back("--" + std::string(flag.name));
    return all;
  }();
  static const std::regex literal(R"re("(\\.|[^"\\\n])*")re"),
      flag("--[a-z][a-z0-9-]*(?![a-z0-9=-])");
  std::vector<std::string> found;
  for (std::sregex_iterator at(code.begin(), code.end(), literal), end; at != end; ++at) {
    const std::string text = at->str();
    for (std::sregex_iterator word(text.begin(), text.end(), flag); word != end; ++word)
      if (std::ranges::find(known, word->str()) != known.end()) found.push_back(word->str());
  }
  return found;
}

TEST(Wording, NoLibraryNamesAFlag) {
  std::size_t files = 0;
  for (const auto* folder : {"hardware", "model", "report"})
    for (const auto& file : sources_below(test::source_path(folder))) {
      std::ifstream in(file);
      const std::string code{std::istreambuf_iterator<char>(in), {}};
      for (const auto& flag : flags_in_literals(code)) ADD_FAILURE() << file << " names " << flag;
      ++files;
    }
  EXPECT_GT(files, 500u);
}

TEST(Wording, AFlagInALiteralIsFound) {
  EXPECT_EQ(flags_in_literals("x = \"too large: --batch 4\";"),
            std::vector<std::string>{"--batch"});
  EXPECT_TRUE(flags_in_literals("y = batch--; z = \"--format=csv --batch-of-nothing\";").empty());
}

}  // namespace
}  // namespace headroom::sweep
