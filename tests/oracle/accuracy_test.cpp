// No figure of tests/accuracy/accuracy.json may get worse: tests/accuracy/update.sh writes it anew.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>

#include "reference.hpp"
#include "sweep/accuracy/report.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::oracle {
namespace {

const std::string folder = std::string(HEADROOM_SOURCE) + "/tests/accuracy/";
const std::string rows = folder + "canonical/";

TEST(Accuracy, NoFigureGetsWorse) {
  std::vector<std::string> files;
  for (const char* name : {"decode_speed", "fit_labels", "inference_memory", "offload_speed",
                           "quantised_sizes", "training_memory", "training_speed"})
    files.push_back(rows + name + ".csv");
  const auto now = sweep::accuracy_object(sweep::score(files, ""));
  const auto committed = boost::json::parse(read_file(folder + "accuracy.json")).as_object();
  EXPECT_GE(now.at("scored").to_number<double>(), 0.95 * now.at("eligible").to_number<double>());
  EXPECT_GE(now.at("scored").to_number<int>(), committed.at("scored").to_number<int>());
  std::map<std::string, boost::json::object> groups;
  for (const auto& group : now.at("groups").as_array())
    groups[group.at("group").as_string().c_str()] = group.as_object();
  for (const auto& value : committed.at("groups").as_array()) {
    const auto& group = value.as_object();
    const std::string name = group.at("group").as_string().c_str();
    ASSERT_TRUE(groups.contains(name)) << name;
    for (const char* figure : {"median", "p90", "wrong_sure", "marginal"}) {
      const auto* before = group.if_contains(figure);
      if (before == nullptr) continue;
      EXPECT_LE(groups[name].at(figure).to_number<double>(), before->to_number<double>() + 0.0005)
          << name << ' ' << figure;
    }
  }
}

TEST(Accuracy, NoReasonDependsOnTheError) {
  // A row whose figure is made absurd is scored all the same, and far off. Small, since more than
  // the cards have is no measurement of them: that reason alone looks at the figure.
  auto every = sweep::read_measurements(rows + "inference_memory.csv");
  ASSERT_GT(every.size(), 200U);
  sweep::Subjects subjects("");
  int subject = 0, absurd = 0;
  for (auto& row : every) {
    const auto counted = [&](int& n) {
      try {
        subjects.subject(row);
        ++n;
      } catch (const sweep::Skipped& skipped) {
        if (skipped.reason == sweep::Skip::capacity) ++n;
      }
    };
    counted(subject);
    row.fields["value"] = "0.00123456789";
    counted(absurd);
  }
  EXPECT_EQ(subject, absurd);
  EXPECT_GT(subject, 150);
}

/// The ten set-ups of Megatron-LM within 1.5 % each, one row at a time.
TEST(Accuracy, EveryMegatronRunIsNear) {
  sweep::TrainingMeasurements measurements("");
  int runs = 0;
  for (const auto& row : sweep::read_measurements(rows + "training_memory.csv")) {
    if (!row["runtime"].starts_with("megatron") || !row["missing"].empty()) continue;
    EXPECT_NEAR(measurements.score(row).error(), 0, 0.015) << row["id"];
    ++runs;
  }
  EXPECT_EQ(runs, 22);
}

TEST(Accuracy, NoReasonOfATrainingRowDependsOnTheError) {
  sweep::TrainingMeasurements measurements("");
  int scored = 0, absurd = 0;
  for (auto& row : sweep::read_measurements(rows + "training_memory.csv")) {
    const auto counted = [&](int& n) {
      try {
        measurements.score(row);
        ++n;
      } catch (const sweep::Skipped&) {
      }
    };
    counted(scored);
    row.fields["value"] = "0.00123456789";
    counted(absurd);
  }
  EXPECT_EQ(scored, absurd);
  EXPECT_GE(scored, 99);
}

}  // namespace
}  // namespace headroom::oracle
