// Files that are written whole or not at all.
#include "report/whole_file.hpp"

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "hardware/text_file.hpp"

namespace headroom::report {
namespace {

TEST(WholeFile, KeepsTheOldFileWhenWritingFails) {
  Folder folder;
  write_whole(folder / "a" / "f.md", "old");
  EXPECT_THROW(write_whole(folder / "a" / "f.md",
                           [](std::ostream& out) {
                             out << "half";
                             out.setstate(std::ios::badbit);
                           }),
               StoreError);
  EXPECT_EQ(read_text_file(folder / "a" / "f.md"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "a"), {}), 1);
  EXPECT_THROW(write_whole(folder / "a" / "f.md" / "g", "x"), StoreError);
}

}  // namespace
}  // namespace headroom::report
