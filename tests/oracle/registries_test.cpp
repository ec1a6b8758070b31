// The class names that vLLM 0.33 and SGLang 0.5.23 know, one row a name and registry
// (tests/oracle/registries.py writes them): described, described under another class's name, or
// refused and why. Modules that predict further tokens have classes of their own there. Their
// weights are in the checkpoint of a main class, which the column `of` names.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "csv.hpp"
#include "hardware/embedded.hpp"
#include "hardware/names.hpp"
#include "hardware/sorted_table.hpp"
#include "model/describe/architecture.hpp"
#include "model/describe/architectures/classifiers.hpp"
#include "model/describe/multi_token_prediction.hpp"

namespace headroom::oracle {
namespace {

/// Least share of the names for text generation and multimodal models that must be described.
constexpr double least_share = 0.95;

const std::vector<Row>& registry_rows() {
  static const std::vector<Row> rows = read_csv("registries.csv");
  return rows;
}

/// The ending of a class name that says what the class is for.
std::string_view purpose_of(std::string_view name) {
  if (name.ends_with("LMHeadModel")) return "ForCausalLM";
  if (const auto at = name.rfind("For"); at != std::string_view::npos) return name.substr(at);
  return name.ends_with("Model") ? "Model" : "";
}

/// The first class of the table with the description of `row` and the same purpose. A head on
/// another class's body is a description of its own.
std::string owner_of(const model::Architecture& row) {
  using namespace model::families;
  for (const auto head : {scored, classified, answered})
    if (row.describe == head) return std::string(row.name);
  for (const auto& other : model::architectures())
    if (other.describe == row.describe && purpose_of(other.name) == purpose_of(row.name))
      return std::string(other.name);
  return std::string(row.name);
}

/// Described class → the class whose description it has, which may be itself. A registry's name in
/// another letter case (MPTForCausalLM) has the same row.
std::map<std::string, std::string> described_classes() {
  std::map<std::string, std::string> all, by_lower;
  for (const auto& row : model::architectures()) {
    all.emplace(std::string(row.name), owner_of(row));
    by_lower.emplace(lower(row.name), owner_of(row));
  }
  for (const Row& row : registry_rows())
    if (const auto same = by_lower.find(lower(row.at("class"))); same != by_lower.end())
      all.emplace(row.at("class"), same->second);
  return all;
}

/// Classes whose further modules for multi-token prediction are described.
std::set<std::string> classes_with_predictors() {
  std::set<std::string> all;
  for (const auto& row : model::architectures())
    // Towers stand beside a text model of the type with that ending.
    for (const std::string ending : {"", "_text"})
      if (!model::predictor_source(std::string(row.model_type) + ending).empty())
        all.emplace(row.name);
  return all;
}

/// Out of date after a change of model/describe/architectures/table? `registries.py states` fills
/// the column anew.
TEST(Registries, StatesAreTheProgramsOwn) {
  const auto described = described_classes();
  const auto predictors = classes_with_predictors();
  std::string classes, mains;
  for (const auto& [name, owner] : described) classes += name + '=' + owner + ' ';
  for (const auto& name : predictors) mains += name + ' ';
  RecordProperty("classes", classes);
  RecordProperty("predictors", mains);
  for (const Row& row : registry_rows()) {
    SCOPED_TRACE(row.at("registry") + ' ' + row.at("class"));
    const auto found = described.find(row.at("class"));
    const std::string& state = row.at("state");
    if (found != described.end()) {
      const bool own = found->second == found->first;
      EXPECT_EQ(state, own ? "described" : "alias");
      EXPECT_EQ(row.at("of"), own ? "" : found->second);
    } else if (predictors.contains(row.at("of"))) {
      EXPECT_EQ(state, "alias");
    } else {
      EXPECT_EQ(state, "refused");
    }
    EXPECT_EQ(state == "refused", !row.at("reason").empty());
  }
}

TEST(Registries, EachNameHasOneRow) {
  std::set<std::string> seen;
  for (const Row& row : registry_rows())
    EXPECT_TRUE(seen.insert(row.at("registry") + ' ' + row.at("class")).second) << row.at("class");
  EXPECT_EQ(seen.size(), 705u);
}

/// Names of the group "no model" stand for a way to run a model, and count in no share.
TEST(Registries, NearlyAllThatWriteTextAreDescribed) {
  struct Count {
    int described = 0, all = 0;
  };
  std::map<std::string, std::map<std::string, Count>> counts;
  for (const Row& row : registry_rows()) {
    if (row.at("group") == "no model") continue;
    Count& count = counts[row.at("registry")][row.at("group")];
    count.described += row.at("state") != "refused";
    ++count.all;
  }
  EXPECT_EQ(counts.size(), 2u);
  for (auto& [registry, groups] : counts) {
    for (const auto& [group, count] : groups)
      std::printf("%s, %s: %d of %d names are described\n", registry.c_str(), group.c_str(),
                  count.described, count.all);
    const Count text = groups["text generation"], images = groups["multimodal"];
    EXPECT_GE(text.described + images.described, least_share * (text.all + images.all)) << registry;
  }
}

/// The program's own list of names, which its messages quote, is this table.
TEST(Registries, TheProgramHasTheirNames) {
  const SortedTable table(embedded_models().content("engine_classes.tsv"));
  std::map<std::string, std::set<std::string>> registries;
  for (const Row& row : registry_rows())
    if (row.at("group") != "no model") registries[row.at("class")].insert(row.at("registry"));
  ASSERT_GT(registries.size(), 400U);
  for (const auto& [name, in] : registries)
    EXPECT_EQ(table.row(name + '\t'), in.size() == 2        ? "vLLM and SGLang"
                                      : in.contains("vllm") ? "vLLM"
                                                            : "SGLang")
        << name;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table.rows(""), '\n')), registries.size());
}

}  // namespace
}  // namespace headroom::oracle
