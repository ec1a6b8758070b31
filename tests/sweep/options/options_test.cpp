// Spellings, switches, and errors that name the option.
#include "sweep/options/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hardware/text.hpp"
#include "sweep/commands/commands.hpp"
#include "sweep/options/flags.hpp"
#include "sweep/options/help.hpp"

namespace headroom::sweep {
namespace {

constexpr CommandHelp command{.name = "try",
                              .summary = "tries",
                              .operands = "MODEL…",
                              .flags = "batch precision context no-kv-cache format hardware",
                              .examples = "headroom try x",
                              .columns = "none",
                              .exit_codes = "0 done"};

Options options_of(std::vector<std::string> arguments) { return parse_options(command, arguments); }

std::string options_complaint(std::vector<std::string> arguments) {
  try {
    options_of(std::move(arguments));
  } catch (const UsageError& e) {
    return e.what();
  }
  return "none";
}

TEST(Options, EverySpellingReachesTheCanonicalFlag) {
  for (const auto& spelled : {std::vector<std::string>{"--batch", "8"},
                              {"--batch=8"},
                              {"--batch-size", "8"},
                              {"--per-device-batch=8"},
                              {"--micro-batch-size", "8"},
                              {"-b", "8"},
                              {"-b8"}})
    EXPECT_EQ(options_of(spelled).whole("batch", 1), 8) << spelled.front();
  EXPECT_EQ(options_of({"--json"}).text("format"), "json");
  EXPECT_EQ(options_of({"--dtypes", "fp16"}).text("precision"), "fp16");
}

TEST(Options, NoSpellingMeansTwoThings) {
  std::set<std::string> seen;
  for (const auto& spelling : spellings()) EXPECT_TRUE(seen.insert(spelling).second) << spelling;
}

TEST(Options, SwitchesTakeTrueAndFalse) {
  EXPECT_TRUE(options_of({"--no-kv-cache"}).given("no-kv-cache"));
  EXPECT_TRUE(options_of({"--no-kv-cache", "true"}).given("no-kv-cache"));
  EXPECT_FALSE(options_of({"--no-kv-cache", "false"}).given("no-kv-cache"));
  EXPECT_FALSE(options_of({"--no-kv-cache=false"}).given("no-kv-cache"));
  EXPECT_TRUE(options_of({"--no-kv-cache", "true", "gpt2"}).operands().front() == "gpt2");
  EXPECT_NE(options_complaint({"--no-kv-cache=perhaps"}).find("is a switch"), std::string::npos);
}

TEST(Options, OperandsMayBeAnywhere) {
  const auto options = options_of({"a", "--batch", "2", "b", "--", "--odd"});
  EXPECT_EQ(options.operands(), (std::vector<std::string>{"a", "b", "--odd"}));
}

TEST(Options, ManyValuesReachToTheNextFlag) {
  const auto options = options_of({"--hardware", "a.toml", "b.toml", "--batch", "2"});
  EXPECT_EQ(options.texts("hardware"), (std::vector<std::string>{"a.toml", "b.toml"}));
}

TEST(Options, RefusesWhatHasNoEffect) {
  EXPECT_EQ(options_complaint({"--gpu", "x"}), "--gpu (--machine) has no effect on 'try'");
  EXPECT_EQ(options_complaint({"--offload-params", "cpu"}),
            "--offload-params has no effect on 'try'; estimate and launch take it");
  EXPECT_EQ(
      options_complaint({"--grad-checkpoint", "true"}),
      "--grad-checkpoint (--checkpointing) has no effect on 'try'; estimate and launch take it");
}

TEST(Options, NamesTheNearestFlag) {
  EXPECT_NE(options_complaint({"--bach", "3"}).find("--batch"), std::string::npos);
  EXPECT_NE(options_complaint({"-q"}).find("unknown option -q"), std::string::npos);
}

TEST(Options, RefusesValuesThatCannotBe) {
  for (const auto* value : {"0", "-1", "x", "", "1.5", "8x", "99999999999999999999"})
    EXPECT_THROW(options_of({std::string("--batch=") + value}).whole("batch", 1), UsageError)
        << value;
  EXPECT_NE(options_complaint({"--batch"}).find("needs a value"), std::string::npos);
  EXPECT_NE(options_complaint({"--batch", "--json"}).find("needs a value"), std::string::npos);
  EXPECT_NE(options_complaint({"--batch", "2", "-b", "3"}).find("more than once"),
            std::string::npos);
  EXPECT_THROW(options_of({"--batch", "-1"}).whole("batch", 1), UsageError);
}

TEST(Options, HelpEndsWithExamplesColumnsAndExitCodes) {
  const auto help = full_help_text(command);
  const auto examples = help.find("\nExamples:\n  headroom try x\n");
  const auto columns = help.find("\nColumns:\n");
  const auto codes = help.find("\nExit codes:\n");
  ASSERT_NE(examples, std::string::npos);
  EXPECT_LT(examples, columns);
  EXPECT_LT(columns, codes);
  EXPECT_NE(help.find("--batch-size"), std::string::npos);
}

TEST(Options, EveryFlagBelongsToOneGroupOfTheHelp) {
  std::multiset<std::string_view> grouped, all;
  for (const FlagGroup& group : flag_groups())
    for (const auto name : words(group.flags)) grouped.insert(name);
  for (const Flag& flag : flags()) all.insert(flag.name);
  EXPECT_EQ(grouped, all);
}

TEST(Options, HelpOfEveryCommandFitsOnAScreen) {
  for (const Command* each : commands()) {
    const std::string help = help_text(each->help);
    EXPECT_LE(std::ranges::count(help, '\n'), 30) << help;
    EXPECT_NE(help.find("\nExamples:\n  "), std::string::npos) << help;
    for (const auto line : split(help, '\n')) EXPECT_LE(text_width(line), 100u) << line;
  }
}

/// An example that the parser refuses would mislead whoever copies it.
TEST(Options, CommonOptionsAreParsedAsWritten) {
  for (const CommonOption& option : common_options()) {
    CommandHelp one = command;
    one.flags = option.flag;
    std::vector<std::string> arguments;
    for (const auto word : words(option.example, " \"")) arguments.emplace_back(word);
    EXPECT_TRUE(parse_options(one, arguments).given(option.flag)) << option.example;
  }
}

}  // namespace
}  // namespace headroom::sweep
