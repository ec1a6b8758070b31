// Every described architecture against transformers on the meta device. Names, shapes, order,
// buffers, ties, the module tree and their sums must be identical to the last element.
#include "model_comparison.hpp"

namespace headroom::model {
namespace {

/// Compares all models of a folder and prints one line of what was seen.
ModelTally compare_models(const std::string& folder) {
  std::set<std::string_view> described;
  for (const auto& row : architectures()) described.insert(row.name);
  ModelTally tally;
  for (const auto& reference : oracle::read_references(folder)) {
    const std::string architecture = oracle::text_of(reference.counts.at("architecture"));
    if (!described.contains(architecture)) {
      tally.undescribed.insert(architecture);
      continue;
    }
    try {
      ModelComparison(reference, tally).run();
    } catch (const std::exception& e) {
      ++tally.mismatches;
      ADD_FAILURE() << reference.name << ": " << e.what();
    }
  }
  fmt::print("{}: {} models of {} architectures, {} tensors compared, {} mismatches\n", folder,
             tally.models, tally.architectures.size(), tally.tensors, tally.mismatches);
  if (!tally.undescribed.empty())
    fmt::print("not described yet ({}): {}\n", tally.undescribed.size(),
               fmt::join(tally.undescribed, " "));
  return tally;
}

TEST(Models, CatalogueIsIdenticalToTheReference) {
  const ModelTally tally = compare_models("catalogue");
  EXPECT_EQ(tally.mismatches, 0u);
  EXPECT_TRUE(tally.undescribed.empty());
}

TEST(Models, ClassDefaultsAreIdenticalToTheReference) {
  EXPECT_EQ(compare_models("defaults").mismatches, 0u);
}

TEST(Models, OtherClassesAreIdenticalToTheReference) {
  EXPECT_EQ(compare_models("more").mismatches, 0u);
}

/// References that make.py or vary.py --show wrote to a folder of their own.
TEST(Models, FolderOfTheEnvironmentIsIdenticalToTheReference) {
  const char* folder = std::getenv("HEADROOM_ORACLE_FOLDER");
  if (!folder) GTEST_SKIP() << "HEADROOM_ORACLE_FOLDER names none";
  EXPECT_EQ(compare_models(folder).mismatches, 0u);
}

}  // namespace
}  // namespace headroom::model
