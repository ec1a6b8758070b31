// What is left out of the measurements is left out for what it is.
#include <gtest/gtest.h>

#include <string>

#include "sweep/subject.hpp"

namespace headroom::oracle {
namespace {

const std::string folder = std::string(HEADROOM_SOURCE) + "/tests/accuracy/";

TEST(Accuracy, NoReasonDependsOnTheError) {
  // A row whose figure is made absurd is scored all the same, and far off.
  auto rows = sweep::read_measurements(folder + "inference_memory.csv");
  ASSERT_GT(rows.size(), 200U);
  sweep::Subjects subjects("");
  int subject = 0, absurd = 0;
  for (auto& row : rows) {
    const auto counted = [&](int& n) {
      try {
        subjects.subject(row);
        ++n;
      } catch (const sweep::Skipped&) {
      }
    };
    counted(subject);
    row.fields["value"] = "123456789";
    counted(absurd);
  }
  EXPECT_EQ(subject, absurd);
  EXPECT_GT(subject, 150);
}

}  // namespace
}  // namespace headroom::oracle
