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

TEST(WholeFile, FoldersAppearWholeOrNotAtAll) {
  const Folder folder;
  const auto there = folder / "out";
  const auto fill = [](const std::string& content, bool fails) {
    return [=](const std::filesystem::path& into) -> std::vector<std::filesystem::path> {
      write_whole(into / "a.md", content);
      write_whole(into / "below" / "b.md", content);
      if (fails) throw StoreError("full");
      return {"a.md", "below/b.md"};
    };
  };
  EXPECT_THROW(write_folder(there, fill("none", true)), StoreError);
  EXPECT_FALSE(std::filesystem::exists(there));
  EXPECT_EQ(write_folder(there, fill("old", false)).size(), 2u);
  EXPECT_EQ(read_text_file(there / "below" / "b.md"), "old");
  EXPECT_THROW(write_folder(there, fill("new", true)), StoreError);
  EXPECT_EQ(read_text_file(there / "a.md"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(there), {}), 2);
  EXPECT_THROW(write_folder(there / "a.md", fill("new", false)), StoreError);
}

}  // namespace
}  // namespace headroom::report
