// Rows of sorted tables, and that the shipped ones are sorted.
#include "hardware/sorted_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hardware/embedded.hpp"

namespace headroom {
namespace {

TEST(SortedTable, FindsEveryRowAndNoOther) {
  const SortedTable table("# heading\na\t1\nb\t2\nb\t3\nb-c\t4\nd\t5\n");
  EXPECT_EQ(table.row("a\t"), "1");
  EXPECT_EQ(table.rows("b\t"), "b\t2\nb\t3\n");
  EXPECT_EQ(table.row("b-c\t"), "4");
  EXPECT_EQ(table.rows("b"), "b\t2\nb\t3\nb-c\t4\n");
  EXPECT_EQ(table.row("d\t"), "5");
  for (const auto* absent : {"#", "A\t", "c\t", "d\t5x", "e\t", "a\t1\n"})
    EXPECT_EQ(table.rows(absent), "") << absent;
}

TEST(SortedTable, LastLineNeedsNoEnd) {
  EXPECT_EQ(SortedTable("a\t1\nb\t2").row("b\t"), "2");
  EXPECT_EQ(SortedTable("").rows("a"), "");
  EXPECT_EQ(SortedTable("# heading").rows(""), "");
}

TEST(SortedTable, NamesTheRowThatIsOutOfOrder) {
  EXPECT_EQ(SortedTable("a\nc\nb\nd\n").first_unsorted(), "b");
  EXPECT_EQ(SortedTable("# z\na\na\nb\n").first_unsorted(), "");
}

/// A row out of order would not be found: `LC_ALL=C sort` mends the file.
TEST(EmbeddedTables, AreSorted) {
  for (const auto* name : {"class_defaults.tsv", "config_fields.tsv", "engine_classes.tsv",
                           "harmless_keys.tsv", "model_names.tsv", "sources.tsv"}) {
    const std::string_view text = embedded_models().content(name);
    ASSERT_FALSE(text.empty()) << name;
    EXPECT_EQ(SortedTable(text).first_unsorted(), "") << name;
  }
}

TEST(EmbeddedFiles, EachIsFoundByItsName) {
  const EmbeddedFiles files = embedded_models();
  ASSERT_GT(files.size(), 300U);
  for (const EmbeddedFile& file : files)
    EXPECT_EQ(files.content(file.name).data(), file.bytes.data());
  for (const auto* absent : {"", "a", "sources", "sources.tsv2", "~"})
    EXPECT_TRUE(files.content(absent).empty()) << absent;
}

/// One row each: two would make the shown origin depend on the order of the file.
TEST(EmbeddedTables, EveryConfigHasOneSource) {
  const SortedTable sources(embedded_models().content("sources.tsv"));
  for (const EmbeddedFile& file : embedded_models()) {
    if (!file.name.ends_with(".json")) continue;
    std::string_view rows =
        sources.rows(std::string(file.name.substr(0, file.name.size() - 5)) + '\t');
    take_line(rows);
    EXPECT_NE(sources.row(std::string(file.name.substr(0, file.name.size() - 5)) + '\t'), "")
        << file.name;
    EXPECT_EQ(rows, "") << file.name;
  }
}

}  // namespace
}  // namespace headroom
