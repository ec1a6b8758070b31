// One document as Markdown and as HTML.
#include "report/document.hpp"

#include <gtest/gtest.h>

namespace headroom::report::test {
namespace {

TEST(Document, OnePageIsWrittenAsMarkdownAndAsHtml) {
  Document page;
  page.heading(2, "Speeds")
      .paragraph(Text("See ") + link("the data", "results.csv") + " or " + code("headroom diff") +
                 ".")
      .add(List{{{"one", {"below one"}}, {strong("two")}}});
  EXPECT_EQ(to_markdown(page),
            "## Speeds\n\n"
            "See [the data](results.csv) or `headroom diff`.\n\n"
            "- one\n  - below one\n- **two**\n");
  EXPECT_EQ(to_html(page),
            "<h2>Speeds</h2>\n"
            "<p>See <a href=\"results.csv\">the data</a> or <code>headroom diff</code>.</p>\n"
            "<ul><li>one<ul><li>below one</li></ul></li><li><strong>two</strong></li></ul>\n");
}

TEST(Document, TextOfUsersIsEscapedInBoth) {
  Document page;
  page.paragraph("a|b <script> & *c*");
  EXPECT_EQ(to_markdown(page), "a\\|b &lt;script> & \\*c\\*\n");
  EXPECT_EQ(to_html(page), "<p>a|b &lt;script&gt; &amp; *c*</p>\n");
}

TEST(Document, MarkdownHasNoControlCharacters) {
  Document page;
  page.heading(2, "\x1b[31ma").add(List{{{code("\x07"), {link("\x7f", "\x1b")}}}});
  EXPECT_EQ(to_markdown(page), "## \\x1b\\[31ma\n\n- `\\x07`\n  - [\\x7f](\\x1b)\n");
}

TEST(Document, ACellCarriesItsGradeItsLinesAndItsOrder) {
  TableCell cell("fits on 1 GPU");
  cell.grade = Grade::on_gpus;
  cell.lines = {"bf16", "12 tokens/s"};
  cell.order = 4e9;
  const TableBlock table{{{"model", TableColumn::Kind::row_name}, {"card"}},
                         {{"m", cell}, {"n", {}}},
                         "Matrix",
                         0,
                         "matrix"};
  const Document page = Document().add(table);
  EXPECT_EQ(to_markdown(page),
            "| model | card |\n| --- | --- |\n"
            "| m | ✅ fits on 1 GPU<br>bf16<br>12 tokens/s |\n| n | |\n");
  EXPECT_EQ(to_html(page),
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Matrix\">"
            "<table id=\"matrix\"><thead><tr>"
            "<th scope=\"col\"><button type=\"button\">model</button></th>"
            "<th scope=\"col\"><button type=\"button\">card</button></th></tr></thead><tbody>\n"
            "<tr><th scope=\"row\">m</th><td data-g=\"0\" data-v=\"4e+09\"><span class=\"good\">"
            "✓ fits on 1 GPU</span><small>bf16</small><small>12 tokens/s</small></td></tr>\n"
            "<tr><th scope=\"row\">n</th><td data-v=\"\"></td></tr>\n"
            "</tbody></table></div>\n");
}

TEST(Document, OmitsPartsThatAFormatCannotShow) {
  TableCell bar;
  bar.bar = {{0, 0.5, "weights 1.00 GiB"}};
  Document page;
  page.add(BarKey{{"weights"}})
      .add(Interactive{"<form></form>"})
      .add(TableBlock{{{"peak", TableColumn::Kind::number}, {"made of", TableColumn::Kind::bar}},
                      {{"1.00", bar}},
                      "One card",
                      3})
      .add(Pictures{{{{}, "curve", "curves/a.png", "below"}}});
  EXPECT_EQ(to_markdown(page),
            "### One card\n\n| peak |\n| ---: |\n| 1.00 |\n\n![curve](curves/a.png)\n\nbelow\n");
  const std::string html = to_html(page);
  EXPECT_NE(html.find("<form></form>"), std::string::npos);
  EXPECT_NE(html.find("<caption>One card</caption>"), std::string::npos);
  EXPECT_NE(html.find("style=\"width:50.00%\" title=\"weights 1.00 GiB\""), std::string::npos);
  EXPECT_EQ(html.find("a.png"), std::string::npos);
}

}  // namespace
}  // namespace headroom::report::test
