// CSV, Markdown and rounding.
#include "report/format.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "fixture.hpp"
#include "report/axes.hpp"
#include "report/csv.hpp"
#include "report/markdown.hpp"

namespace headroom::report {
namespace {

TEST(Format, ShortestDigitsReadBack) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(std::int64_t{9'007'199'254'740'993}), "9007199254740993");
  EXPECT_EQ(std::stod(shortest(1.0 / 3)), 1.0 / 3);
}

TEST(Format, ReadersSeeUnits) {
  EXPECT_EQ(shown(40e9, DisplayUnit::gib), "37.25");
  EXPECT_EQ(shown(0.01234, DisplayUnit::milliseconds), "12.3");
  EXPECT_EQ(shown(12.3456, DisplayUnit::milliseconds), "12346");
  EXPECT_EQ(shown(0.374, DisplayUnit::percent), "37 %");
  EXPECT_EQ(shown(2'779'683'840, DisplayUnit::billions), "2.78");
  EXPECT_EQ(shown(0.0004567, DisplayUnit::plain), "0.000457");
  EXPECT_EQ(shown(std::numeric_limits<double>::infinity(), DisplayUnit::plain), "");
  EXPECT_EQ(heading(*find_column("gpu_bytes")), "GPU memory (GiB)");
  EXPECT_EQ(heading(*find_column("ttft_s")), "first token (ms)");
  EXPECT_EQ(heading(*find_column("tokens_s")), "tokens/s");
}

TEST(Csv, FieldsAreQuotedWhereNeeded) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

/// A field is read as RFC 4180 has it; the inverse of the writer.
std::vector<std::vector<std::string>> parse(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    std::string& field = rows.back().back();
    if (quoted && csv[i] == '"' && i + 1 < csv.size() && csv[i + 1] == '"')
      field += csv[i++];
    else if (csv[i] == '"')
      quoted = !quoted;
    else if (quoted || (csv[i] != ',' && csv[i] != '\r' && csv[i] != '\n'))
      field += csv[i];
    else if (csv[i] == ',')
      rows.back().emplace_back();
    else if (csv[i] == '\n')
      rows.emplace_back(1);
  }
  rows.pop_back();
  return rows;
}

TEST(Csv, ARunHasTheRowsOfTheView) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Database database(folder / "r.sqlite");
  std::ostringstream from_run, from_view;
  write_csv(from_run, database, 1);
  const auto columns = columns_of(database.run(1));
  std::string names;
  for (const Column* column : columns)
    names += (names.empty() ? "" : ", ") + std::string(column->name);
  write_csv(from_view, database.query("SELECT " + names + " FROM result ORDER BY point", 1));
  const auto rows = parse(from_run.str()), expected = parse(from_view.str());
  ASSERT_EQ(rows.size(), 13u);
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].size(), columns.size());
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      if (r == 0 || columns[c]->type != SqlType::real) {
        EXPECT_EQ(rows[r][c], expected[r][c]) << columns[c]->name;
      } else if (!expected[r][c].empty()) {
        EXPECT_DOUBLE_EQ(std::stod(rows[r][c]), std::stod(expected[r][c])) << columns[c]->name;
      } else {
        EXPECT_EQ(rows[r][c], "") << columns[c]->name;
      }
    }
  }
}

TEST(Csv, AStreamThatFailsIsAnError) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(write_csv(out, Database(folder / "r.sqlite"), 1), std::ios_base::failure);
}

TEST(Axes, DecodeLikeTheView) {
  const Axes axes(small_run());
  EXPECT_EQ(text_of(axes.value("model", 6)), "b, \"large\"");
  EXPECT_EQ(number_of(axes.value("batch", 5), 0), 4);
  EXPECT_EQ(axes.value("machine", 5), nullptr);
  EXPECT_EQ(axes.factors(3).tpot.high, 2.0);
  EXPECT_EQ(axes.factors(3).tpot.measurements, 42);
}

TEST(Markdown, UnitsComeFromTheColumnList) {
  const Table table{{"model", "weights_bytes", "ttft_s", "verdict", "note"},
                    {{"a|b", std::int64_t{65'524'246'528}, 0.4123, "fits_gpus", "x"},
                     {"c", std::monostate{}, std::monostate{}, "refused", "<y>"}}};
  EXPECT_EQ(markdown(table),
            "| model | weights (GiB) | first token (ms) | verdict | note |\n"
            "| --- | ---: | ---: | --- | --- |\n"
            "| a\\|b | 61.02 | 412 | fits_gpus | x |\n"
            "| c | | | refused | &lt;y> |\n");
}

}  // namespace
}  // namespace headroom::report
