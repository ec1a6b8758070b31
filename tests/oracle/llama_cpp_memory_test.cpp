// Weights and caches against what llama.cpp itself reserves (llama_cpp_cases.hpp), to the byte, and
// the page that says how far compute buffers are from it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <tuple>

#include "hardware/text_file.hpp"
#include "llama_cpp_cases.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  ///< archive, file, figure

std::map<Key, std::string> known_differences() {
  std::map<Key, std::string> all;
  for (const Row& row : read_csv("llama_cpp_differences.csv"))
    all[{row.at("archive"), row.at("file"), row.at("figure")}] = row.at("reason");
  return all;
}

/// One figure of a case.
struct Pair {
  Size own = 0, other = 0;
};

/// Figures of cases against llama.cpp's. Those of `known_differences` must differ somewhere.
class Comparison {
 public:
  explicit Comparison(std::string figure) : figure_(std::move(figure)) {}
  void add(const Row& row, Pair bytes) {
    const Key key{row.at("archive"), row.at("file"), figure_};
    ++cases;
    files.insert(std::get<0>(key) + '/' + std::get<1>(key));
    if (bytes.own == bytes.other)
      ++equal;
    else
      differ.try_emplace(key, bytes);
    if (known_.contains(key)) return;
    EXPECT_EQ(bytes.own, bytes.other)
        << figure_ << " of " << row.at("file") << ", context " << row.at("context")
        << ", sequences " << row.at("sequences") << ", flash " << row.at("flash") << ", caches "
        << row.at("caches");
  }
  /// Checks that each known difference of this figure was seen.
  void finish() const {
    for (const auto& [key, reason] : known_)
      if (std::get<2>(key) == figure_) {
        EXPECT_TRUE(differ.contains(key))
            << std::get<1>(key) << " " << figure_ << " does not differ: remove its row";
      }
  }
  std::string line() const {
    return fmt::format("| {} | {} | {} | {} |\n", figure_, files.size(), cases, equal);
  }

  Size cases = 0, equal = 0;
  std::set<std::string> files;
  std::map<Key, Pair> differ;  ///< the first case that differs

 private:
  std::string figure_;
  const std::map<Key, std::string> known_ = known_differences();
};

/// Errors of compute buffers by what was asked, of headers with published widths.
class Compute {
 public:
  void add(const Row& row, Pair bytes) {
    if (row.at("archive") != "gguf" || bytes.other == 0) return;
    const std::string name =
        fmt::format("{} | {} | {} | {} | {}", row.at("context"), row.at("sequences"),
                    row.at("outputs") == "0" ? "all" : "last",
                    row.at("flash") == "1" ? "on" : "off", row.at("kv"));
    errors_[name].push_back(static_cast<double>(bytes.own) / static_cast<double>(bytes.other) - 1);
  }
  /// Nine in ten of each case are at most 15 % too low, and nine in ten at most 15 % too high.
  void finish() const {
    for (const auto& [name, of_case] : errors_) {
      EXPECT_GE(part(of_case, 1), -0.15) << name;
      EXPECT_LE(part(of_case, 9), 0.15) << name;
    }
  }
  std::string lines() const {
    std::string text;
    for (const auto& [name, of_case] : errors_)
      text += fmt::format("| {} | {} | {:+.0f} % | {:+.0f} % | {:+.0f} % |\n", name, of_case.size(),
                          100 * part(of_case, 1), 100 * part(of_case, 5), 100 * part(of_case, 9));
    return text;
  }

 private:
  /// The value that `tenths` of ten are below.
  static double part(std::vector<double> values, std::size_t tenths) {
    std::ranges::sort(values);
    return values[(values.size() - 1) * tenths / 10];
  }
  std::map<std::string, std::vector<double>> errors_;
};

std::string mib(Size bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1048576); }

std::string page(const std::vector<const Comparison*>& all, const Compute& compute) {
  std::string text =
      "# Estimates against llama.cpp's own figures\n\n"
      "Written by `HEADROOM_BLESS=1 build/release/tests/test_oracle --gtest_filter='LlamaCpp*'`; a "
      "test compares it.\n"
      "llama.cpp (commit 0c1e5709 of 2026-10-01) loaded the GGUF headers of "
      "[tests/oracle/data](../oracle/data) on the CPU, in the cases of\n"
      "[judge.py](../llama_cpp/judge.py). `tests/run.sh --long` builds it and asks it again.\n\n"
      "| figure | files | cases | equal to the byte |\n|---|---:|---:|---:|\n";
  for (const Comparison* each : all) text += each->line();
  text +=
      "\nFigures that differ, in the first case that does (MiB):\n\n"
      "| file | figure | estimate | llama.cpp | why |\n|---|---|---:|---:|---|\n";
  const auto known = known_differences();
  for (const Comparison* each : all)
    for (const auto& [key, bytes] : each->differ)
      text +=
          fmt::format("| {} | {} | {} | {} | {} |\n", std::get<1>(key), std::get<2>(key),
                      mib(bytes.own), mib(bytes.other), known.contains(key) ? known.at(key) : "");
  return text +
         "\nCompute buffers, which are estimated, by case, of headers with published widths. An "
         "error is expected / llama.cpp's - 1:\n"
         "one in ten is below the first, half below the second, nine in ten below the third. "
         "`last`: logits of one token a sequence, which\nllama-server asks for since its pull "
         "request 23861; `all`: of every token, as it did before.\n\n"
         "| context | sequences | logits | flash attention | cache | files | 10 % | median | 90 % "
         "|\n|---:|---:|---|---|---|---:|---:|---:|---:|\n" +
         compute.lines();
}

TEST(LlamaCppMemory, WeightsAndCachesAreItsOwn) {
  JudgedFiles headers(of_header), configs(of_config);
  Comparison weights("weights"), caches("caches"), converted("caches of the config");
  Compute compute;
  for (const Row& row : read_csv("llama_cpp_memory.csv")) {
    const CaseBytes theirs = reserved(row);
    if (const Judged* file = headers.of(row)) {
      const CaseBytes ours = estimated(*file, row);
      weights.add(row, {ours.weights, theirs.weights});
      caches.add(row, {ours.caches, theirs.caches});
      compute.add(row, {ours.compute, theirs.compute});
    }
    if (const Judged* file = configs.of(row))
      converted.add(row, {estimated(*file, row).caches, theirs.caches});
  }
  EXPECT_GE(weights.files.size(), 200u);
  EXPECT_GE(converted.files.size(), 50u);
  for (const Comparison* each : {&weights, &caches, &converted}) each->finish();
  compute.finish();
  const std::string file = data_path("../../accuracy/LLAMA_CPP.md");
  const std::string found = page({&weights, &caches, &converted}, compute);
  if (std::getenv("HEADROOM_BLESS")) std::ofstream(file, std::ios::binary) << found;
  EXPECT_EQ(found, read_text_file(file)) << "rewrite with HEADROOM_BLESS=1 and read the difference";
}

}  // namespace
}  // namespace headroom::oracle
