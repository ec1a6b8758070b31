// A document as Markdown.
#include <fmt/format.h>

#include "hardware/text.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/markdown.hpp"

namespace headroom::report {
namespace {

std::string_view markdown_sign(Grade grade) {
  constexpr std::string_view signs[] = {"✅", "⚠️", "⚠️", "❌", "⛔"};
  return signs[static_cast<std::size_t>(grade)];
}

std::string markdown_of(const Text& text) {
  std::string out;
  for (const Span& span : text.spans()) {
    if (span.grade) {
      out += markdown_sign(*span.grade);
      continue;
    }
    switch (span.style) {
      case Style::plain:
        out += markdown_text(span.text);
        break;
      case Style::strong:
        out += "**" + markdown_text(span.text) + "**";
        break;
      case Style::code:
        out += '`' + span.text + '`';
        break;
      case Style::link:
        out += '[' + markdown_text(span.text) + "](" + span.target + ')';
        break;
    }
  }
  return out;
}

std::string markdown_of_cell(const TableCell& cell) {
  std::string out = cell.grade ? std::string(markdown_sign(*cell.grade)) + ' ' : std::string();
  out += markdown_of(cell.text);
  if (cell.is_folded) return out;
  for (const Text& line : cell.lines) out += "<br>" + markdown_of(line);
  return out;
}

std::string joined_blocks(const std::vector<Block>& blocks);

struct MarkdownRenderer {
  std::string operator()(const Heading& heading) const {
    return std::string(static_cast<std::size_t>(heading.level), '#') + ' ' +
           markdown_of(heading.text) + '\n';
  }
  std::string operator()(const Paragraph& paragraph) const {
    return markdown_of(paragraph.text) + '\n';
  }
  std::string operator()(const List& list) const {
    std::string out;
    for (const ListItem& item : list.items) {
      out += "- " + markdown_of(item.text) + '\n';
      for (const Text& nested : item.nested) out += "  - " + markdown_of(nested) + '\n';
    }
    return out;
  }
  std::string operator()(const TableBlock& table) const {
    std::vector<std::string> headings;
    std::vector<bool> right, shown;
    for (const TableColumn& column : table.columns) {
      shown.push_back(column.kind != TableColumn::Kind::bar);
      if (!shown.back()) continue;
      headings.push_back(markdown_of(column.heading));
      right.push_back(column.kind == TableColumn::Kind::number);
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& row : table.rows) {
      auto& cells = rows.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i)
        if (shown[i]) cells.push_back(markdown_of_cell(row[i]));
      cells.resize(headings.size());
    }
    const std::string text = markdown(headings, right, rows);
    if (table.heading_level == 0) return text;
    return (*this)(Heading{table.heading_level, table.caption}) + '\n' + text;
  }
  std::string operator()(const BarKey&) const { return ""; }
  std::string operator()(const Interactive&) const { return ""; }
  std::string operator()(const Pictures& pictures) const {
    std::string out;
    for (const Picture& picture : pictures.pictures) {
      if (picture.image.empty()) continue;
      out += fmt::format("{}![{}]({})\n", out.empty() ? "" : "\n", picture.image_title,
                         picture.image.generic_string());
      if (!picture.below.empty()) out += '\n' + markdown_of(picture.below) + '\n';
    }
    return out;
  }
  std::string operator()(const Details& details) const {
    return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", details.summary,
                       joined_blocks(details.blocks));
  }
};

std::string joined_blocks(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) {
    const std::string text = std::visit(MarkdownRenderer(), block);
    if (!text.empty()) out += (out.empty() ? "" : "\n") + text;
  }
  return out;
}

}  // namespace

bool Text::empty() const {
  for (const Span& span : spans_)
    if (!span.text.empty() || span.grade) return false;
  return true;
}

Document& Document::append(const Document& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
  return *this;
}

TableBlock table_block(const Table& table, std::string caption) {
  TableBlock block;
  block.caption = std::move(caption);
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    const Column* column = find_column(table.names[c]);
    const bool number =
        column ? column->type != SqlType::text
               : !table.rows.empty() && !std::holds_alternative<std::string>(table.rows.front()[c]);
    block.columns.push_back({column ? heading(*column) : table.names[c],
                             number ? TableColumn::Kind::number : TableColumn::Kind::text});
  }
  for (const auto& row : table.rows) {
    auto& cells = block.rows.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c)
      cells.emplace_back(shown_value(table.names[c], row[c]));
  }
  return block;
}

std::string to_markdown(const Document& document) {
  return without_controls(joined_blocks(document.blocks()));
}

}  // namespace headroom::report
