// Number of tensors of each format in published GGUF files, against the mixes.
//
// A log is compared if its model, quantisation and size stand in quantised_sizes.csv with grade A
// or A-, without a reason against it in quantised_exceptions.csv. Grade C marks recipes of the
// uploader's own. Logs of other recipes and of other sets of tensors are counted apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "csv.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/config.hpp"
#include "published.hpp"

namespace headroom::oracle {
namespace {

using Counts = std::map<std::string, int>;

std::string ours(const std::string& type) {
  return type == "f32" ? "fp32" : type == "f16" ? "fp16" : type;
}

Counts counts_of(const model::Model& m, const model::Scheme& scheme) {
  Counts counts;
  const auto tensors = quantised_tensors(m, scheme);
  std::set<const model::Tensor*> language;
  for (const model::Tensor* tensor : language_tensors(m)) language.insert(tensor);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].bytes == Bytes(0) || !language.contains(&m.part.tensors[i])) continue;
    const std::string& name = m.part.tensors[i].name;
    // Files hold the gate and the up projection of stacked experts apart.
    counts[std::string(tensors[i].format->name)] += name.ends_with("experts.gate_up_proj") ? 2 : 1;
  }
  return counts;
}

std::string text(const Counts& counts) {
  std::string all;
  for (const auto& [type, n] : counts) all += fmt::format("{} x {}, ", n, type);
  return all;
}

/// "size 664.295 GiB bpw 8.504" → "664.295".
std::string size_of(const std::string& version) {
  const auto end = version.find(' ', 5);
  return version.starts_with("size ") ? version.substr(5, end - 5) : "";
}

TEST(TensorTypes, CountsAgree) {
  const auto references = published_models();
  std::map<std::string, std::string> exceptions;
  for (const Row& row : read_csv("quantised_exceptions.csv"))
    exceptions[row.at("id")] = row.at("reason");
  std::map<std::string, Row> graded;  // model, quant and size → the row of sizes
  for (const Row& row : read_csv("../../accuracy/quantised_sizes.csv"))
    if (row.at("grade").starts_with("A") && !exceptions.contains(row.at("id")))
      graded[row.at("model") + "|" + row.at("quant") + "|" + row.at("value")] = row;

  const auto canonical = canonical_sizes();
  std::map<std::string, std::pair<Row, Counts>> logs;
  for (const Row& row : read_csv("tensor_types.csv")) {
    auto& [first, counts] = logs[row.at("source") + row.at("version_or_size")];
    if (first.empty()) first = row;
    counts[ours(row.at("type"))] += std::stoi(row.at("count"));
  }
  int compared = 0, other_recipe = 0, not_described = 0, other_tensors = 0;
  for (const auto& [source, log] : logs) {
    const auto& [row, counts] = log;
    const auto size = graded.find(row.at("model") + "|" + row.at("quant") + "|" +
                                  size_of(row.at("version_or_size")));
    if (size == graded.end() || published_schemes(canonical.at(size->second.at("id"))).empty()) {
      ++other_recipe;
      continue;
    }
    const auto reference = references.find(row.at("model"));
    const model::Model* m = nullptr;
    try {
      if (reference != references.end()) m = &cached_model(reference->second);
    } catch (const model::ConfigError&) {
    }
    if (m == nullptr) {
      ++not_described;
      continue;
    }
    const Row& read = canonical.at(size->second.at("id"));
    if (!same_parameters(size->second.at("params_published"), read, *m)) {
      ++other_tensors;
      continue;
    }
    std::string last;
    bool equal = false;
    for (const model::Scheme* scheme : published_schemes(read)) {
      const Counts mine = counts_of(*m, *scheme);
      equal = equal || mine == counts;
      last = text(mine);
    }
    ++compared;
    EXPECT_TRUE(equal) << row.at("model") << " " << row.at("quant") << " ("
                       << row.at("version_or_size") << ")\n  published " << text(counts)
                       << "\n  ours      " << last << "\n  " << row.at("source");
  }
  fmt::print(
      "tensor types: {} logs, {} compared, {} of other recipes, {} of other tensors, {} of models "
      "that are not described\n",
      logs.size(), compared, other_recipe, other_tensors, not_described);
  EXPECT_GE(compared, 7);
}

}  // namespace
}  // namespace headroom::oracle
