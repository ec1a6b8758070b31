// Measured rates have the magnitude of real memory and disks. Rates that cannot be measured are
// absent.
#include "hardware/measure.hpp"

#include <gtest/gtest.h>

#include "tests/support/folder.hpp"

namespace headroom {
namespace {

TEST(Measure, RamIsOfTheOrderOfRealMemory) {
  const auto rate = measure_ram(1, std::chrono::milliseconds(20));
  ASSERT_TRUE(rate);
  EXPECT_GT(rate->value(), 1e7);
  EXPECT_LT(rate->value(), 1e13);
}

TEST(Measure, AFolderThatIsNotThereHasNoRate) {
  EXPECT_FALSE(measure_disk("/no/such/folder", std::chrono::milliseconds(1)));
}

TEST(Measure, TheTemporaryFileIsGone) {
  const headroom::test::Folder folder;
  const auto rate = measure_disk(folder, std::chrono::milliseconds(20));
  if (rate) {
    EXPECT_GT(rate->value(), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace headroom
