// Files that are written whole or not at all.
#include "report/whole_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

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

TEST(WholeFile, ALinkStaysAndItsFileIsWritten) {
  namespace fs = std::filesystem;
  const Folder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("c.md", folder / "b");
  for (const char* content : {"new", "newer"}) {  // the first makes the file
    write_whole(folder / "a", content);
    EXPECT_TRUE(fs::is_symlink(folder / "a"));
    EXPECT_TRUE(fs::is_symlink(folder / "b"));
    EXPECT_EQ(read_text_file(folder / "c.md"), content);
  }
  fs::create_symlink("circle", folder / "circle");
  EXPECT_THROW(write_whole(folder / "circle", "x"), StoreError);
}

TEST(WholeFile, APipeTakesTheText) {
  const Folder folder;
  const auto pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  write_whole(pipe, "text");
  std::array<char, 8> read{};
  EXPECT_EQ(::read(reader, read.data(), read.size()), 4);
  EXPECT_STREQ(read.data(), "text");
  close(reader);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
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
