// Files that people write, changed by chance: every command ends within its bounds, with an exit
// code of the program and a message. tests/fuzz/README.md has the counts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "bounded_process.hpp"
#include "mutation.hpp"
#include "tests/support/folder.hpp"

namespace headroom::test {
namespace {

namespace fs = std::filesystem;

/// A kind of file, and what reads it.
struct Target {
  std::string name;                                ///< the name of its test
  std::string file;                                ///< the name of the changed copy
  std::vector<std::string> seeds;                  ///< files of the source tree
  std::vector<std::vector<std::string>> commands;  ///< one of them each time
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

const std::vector<Target> targets = {
    {"specs",
     "spec.toml",
     {"tests/cli/data/small.toml", "examples/engines.toml", "examples/contexts.toml",
      "examples/training.toml", "tests/cli/data/big.toml"},
     {{"sweep", "spec.toml", "--dry-run"}}},
    {"runs",
     "spec.toml",
     {"tests/cli/data/small.toml", "tests/cli/data/training.toml", "examples/contexts.toml"},
     {{"sweep", "spec.toml", "--out", "out", "--jobs", "1"}}},
    {"prices",
     "prices.toml",
     {"examples/prices/example.toml", "tests/cli/data/rent.toml", "tests/cli/data/priced.toml"},
     {{"plan", "cheapest-machine", "gpt2", "--prices", "prices.toml", "--machines", "rtx-4090",
       "2x rtx-3090"},
      {"estimate", "gpt2", "--machine", "rtx-4090", "--prices", "prices.toml"}}},
    {"portfolios",
     "purchase.toml",
     {"tests/cli/data/purchase.toml"},
     {{"plan", "portfolio", "purchase.toml"}}},
    {"hardware",
     "mine.toml",
     {"examples/own-hardware/workshop.toml", "tests/cli/data/mine.toml"},
     {{"hardware", "lint", "--hardware", "mine.toml"},
      {"hardware", "list", "--hardware", "mine.toml"},
      {"estimate", "gpt2", "--machine", "workshop-card-20gb @ workshop-48gb", "--hardware",
       "mine.toml"},
      {"estimate", "llama2-7b", "--machine", "2x next-card-96gb", "--hardware", "mine.toml"}}},
    {"engines",
     "mine.toml",
     {"tests/cli/data/engines.toml", "tests/cli/data/engines_wrong.toml"},
     {{"runtimes", "--engines", "mine.toml", "--details"},
      {"estimate", "llama2-7b", "--machine", "rtx-4090", "--runtime", "our-vllm", "--engines",
       "mine.toml"},
      {"estimate", "llama2-7b", "--machine", "rtx-4090", "--engines", "mine.toml"}}},
    {"factors",
     "mine.toml",
     {"tests/cli/data/factors.toml", "examples/factors/preflight.toml",
      "examples/factors/fine-tuning-estimator.toml",
      "examples/factors/meta-device-calculator.toml"},
     {{"estimate", "Qwen2.5-7B", "--machine", "rtx-4080", "--runtime", "llama.cpp", "--precision",
       "q4_K_M", "--factors", "mine.toml"},
      {"estimate", "llama2-7b", "--task", "training", "--machine", "rtx-4090", "--factors",
       "mine.toml"}}},
    {"models",
     "mine.toml",
     {"tests/cli/data/custom.toml", "tests/fuzz/corpus/custom/experts",
      "tests/fuzz/corpus/custom/table"},
     {{"params", "./mine.toml"},
      {"estimate", "./mine.toml", "--machine", "rtx-4090"},
      {"place", "./mine.toml", "--machine", "rtx-4090"}}},
    {"trainings",
     "arguments.json",
     {"tests/cli/data/arguments.json", "tests/cli/data/zero2.json"},
     {{"estimate", "gpt2", "--task", "training", "--machine", "rtx-4090", "--from",
       "arguments.json"}}},
    {"measurements",
     "bench.json",
     {"tests/cli/data/bench/rtx-4080.json", "tests/cli/data/bench/rtx-4080.jsonl",
      "tests/cli/data/bench/serving.json", "tests/cli/data/bench/rtx-4080.csv",
      "tests/cli/data/bench/rtx-3090-ti.sql"},
     {{"calibrate", "bench.json", "--machine", "rtx-4080", "--precision", "q4_K_M"}}},
};

class AttackFiles : public testing::TestWithParam<Target> {
 protected:
  AttackFiles() { fs::copy(source_path("examples/prices"), folder / "prices"); }
  /// Tries `count` changed files, from number `first` on.
  void attack(unsigned first, unsigned count) {
    std::vector<std::string> seeds;
    for (const std::string& seed : GetParam().seeds)
      seeds.push_back(headroom::read_text_file(source_path(seed)));
    const Mutation mutation(seeds);
    std::map<int, int> codes;
    for (unsigned number = first; number < first + count && !HasFatalFailure(); ++number) {
      const std::string text = mutation.text(number);
      std::ofstream(folder / GetParam().file, std::ios::binary) << text;
      const auto& commands = GetParam().commands;
      const Ended ended = run_bounded(commands[number % commands.size()], folder);
      ++codes[ended.code];
      EXPECT_EQ(fault(ended), "") << "number " << number << ": " << ended.err.substr(0, 500)
                                  << "\nthe file:\n"
                                  << text.substr(0, 4000);
    }
    for (const auto& [code, times] : codes) std::printf("exit code %d: %d times\n", code, times);
  }
  const Folder temporary;
  const fs::path folder = temporary.path();
};
class LongAttackFiles : public AttackFiles {};

TEST_P(AttackFiles, EndWithAMessage) { attack(0, 60 / stride); }
TEST_P(LongAttackFiles, EndWithAMessage) { attack(1000, tries()); }

const auto name_of = [](const auto& target) { return target.param.name; };
INSTANTIATE_TEST_SUITE_P(Of, AttackFiles, testing::ValuesIn(targets), name_of);
INSTANTIATE_TEST_SUITE_P(LongOf, LongAttackFiles, testing::ValuesIn(targets), name_of);

}  // namespace
}  // namespace headroom::test
