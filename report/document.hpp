// A page, said once: headings, paragraphs, lists, tables and figures. Two renderers make Markdown
// and HTML of it; both escape the texts of users and of models.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/svg.hpp"
#include "report/table.hpp"
#include "report/words.hpp"

namespace headroom::report {

enum class Style { plain, strong, code, link };

/// Words in one style, or the sign of a grade.
struct Span {
  Style style = Style::plain;
  std::string text;
  std::string target{};          ///< target of a link
  std::optional<Grade> grade{};  ///< its sign, instead of words
};

class Text {
 public:
  Text() = default;
  Text(std::string words) : spans_{{Style::plain, std::move(words)}} {}
  Text(std::string_view words) : Text(std::string(words)) {}
  Text(const char* words) : Text(std::string(words)) {}
  Text(Span span) : spans_{std::move(span)} {}

  Text& operator+=(const Text& more) {
    spans_.insert(spans_.end(), more.spans_.begin(), more.spans_.end());
    return *this;
  }
  friend Text operator+(Text a, const Text& b) { return a += b; }
  const std::vector<Span>& spans() const { return spans_; }
  bool empty() const;

 private:
  std::vector<Span> spans_;
};
inline Text strong(std::string words) { return Span{Style::strong, std::move(words)}; }
inline Text code(std::string words) { return Span{Style::code, std::move(words)}; }
inline Text link(std::string words, std::string target) {
  return Span{Style::link, std::move(words), std::move(target)};
}
inline Text sign_of(Grade grade) { return Span{Style::plain, {}, {}, grade}; }

struct Heading {
  int level;
  Text text;
};
struct Paragraph {
  Text text;
  bool soft = false;  ///< less important: HTML shows it in grey
};
struct ListItem {
  Text text;
  std::vector<Text> nested{};
};
struct List {
  std::vector<ListItem> items;
};

/// Part of a bar, as a share of the widest bar of its table. Only HTML shows bars.
struct BarPart {
  std::size_t kind;
  double share;
  std::string title;
};
struct TableCell {
  TableCell() = default;
  TableCell(Text words) : text(std::move(words)) {}
  TableCell(std::string words) : text(std::move(words)) {}
  TableCell(const char* words) : text(words) {}

  Text text;
  std::vector<Text> lines{};      ///< below the first, small
  bool is_folded = false;         ///< HTML folds the lines away, Markdown leaves them out
  std::optional<Grade> grade{};   ///< its sign and colour go with the first line
  std::optional<double> order{};  ///< sort key of a sortable table
  std::vector<BarPart> bar{};
  std::size_t span = 1;  ///< columns that it takes; only HTML joins them
};
struct TableColumn {
  enum class Kind { text, number, row_name, bar };
  Text heading;
  Kind kind = Kind::text;
};
using TableRows = std::vector<std::vector<TableCell>>;
struct TableBlock {
  std::vector<TableColumn> columns;
  TableRows rows;
  std::string caption{};      ///< in HTML
  int heading_level = 0;      ///< in Markdown the caption is a heading; 0: it is left out
  std::string sortable_id{};  ///< empty: the page's script leaves it alone
};
/// With the headings and units of the column list.
TableBlock table_block(const Table& table, std::string caption = {});

/// The names of the parts of bars; only HTML shows it.
struct BarKey {
  std::vector<std::string> names;
};
/// A chart that HTML draws, or an image file that Markdown refers to.
struct Picture {
  std::optional<SvgChart> chart;
  std::string image_title{};
  std::filesystem::path image{};
  Text below{};
};
/// Pictures side by side.
struct Pictures {
  std::vector<Picture> pictures;
};
/// HTML that a script works on; Markdown leaves it out.
struct Interactive {
  std::string html;
};
struct Details;
using Block =
    std::variant<Heading, Paragraph, List, TableBlock, BarKey, Pictures, Interactive, Details>;
/// Blocks that HTML folds away under their summary.
struct Details {
  std::string summary;
  std::vector<Block> blocks;
};

class Document {
 public:
  template <class B>
  Document& add(B block) {
    blocks_.push_back(Block(std::move(block)));
    return *this;
  }
  Document& heading(int level, Text text) { return add(Heading{level, std::move(text)}); }
  Document& paragraph(Text text) { return add(Paragraph{std::move(text)}); }
  Document& append(const Document& other);
  bool empty() const { return blocks_.empty(); }
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  std::vector<Block> blocks_;
};

std::string to_markdown(const Document& document);
std::string to_html(const Document& document);

}  // namespace headroom::report
