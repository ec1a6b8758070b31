// A document as HTML: the body of a page.
#include <fmt/format.h>

#include "report/document.hpp"
#include "report/format.hpp"
#include "report/svg.hpp"

namespace headroom::report {
namespace {

using Kind = TableColumn::Kind;

std::string_view html_sign(Grade grade) {
  constexpr std::string_view signs[] = {"✓", "◐", "◐", "✗", "–"};
  return signs[static_cast<std::size_t>(grade)];
}
std::string_view grade_class(Grade grade) {
  constexpr std::string_view names[] = {"good", "fair", "fair", "bad", "none"};
  return names[static_cast<std::size_t>(grade)];
}

std::string html_of(const Text& text) {
  std::string out;
  for (const Span& span : text.spans()) {
    const std::string words =
        span.grade ? std::string(html_sign(*span.grade)) : html_text(span.text);
    switch (span.style) {
      case Style::plain:
        out += words;
        break;
      case Style::strong:
        out += "<strong>" + words + "</strong>";
        break;
      case Style::code:
        out += "<code>" + words + "</code>";
        break;
      case Style::link:
        out += fmt::format("<a href=\"{}\">{}</a>", html_text(span.target), words);
        break;
    }
  }
  return out;
}

std::string html_bar(const std::vector<BarPart>& parts) {
  std::string out = "<div class=\"stack\">";
  for (const BarPart& part : parts)
    out += fmt::format("<span class=\"b{}\" style=\"width:{:.2f}%\" title=\"{}\"></span>",
                       part.kind, 100 * part.share, html_text(part.title));
  return out + "</div>";
}

std::string html_cell(const TableCell& cell, Kind kind, bool sortable) {
  if (kind == Kind::row_name) return "<th scope=\"row\">" + html_of(cell.text) + "</th>";
  std::string out = kind == Kind::number ? "<td class=\"n\"" : "<td";
  if (cell.span > 1) out += fmt::format(" colspan=\"{}\"", cell.span);
  if (cell.grade) out += fmt::format(" data-g=\"{}\"", static_cast<int>(*cell.grade));
  if (sortable)
    out += fmt::format(" data-v=\"{}\"", cell.order ? fmt::format("{:.6g}", *cell.order) : "");
  out += '>';
  const std::string first =
      cell.grade ? fmt::format("<span class=\"{}\">{} {}</span>", grade_class(*cell.grade),
                               html_sign(*cell.grade), html_of(cell.text))
                 : html_of(cell.text);
  std::string lines;
  for (const Text& line : cell.lines) lines += "<small>" + html_of(line) + "</small>";
  out += cell.is_folded && !lines.empty()
             ? "<details><summary>" + first + "</summary>" + lines + "</details>"
             : first + lines;
  if (!cell.bar.empty()) out += html_bar(cell.bar);
  return out + "</td>";
}

std::string html_head(const TableColumn& column, bool sortable) {
  const std::string words = html_of(column.heading);
  return fmt::format("<th scope=\"col\"{}>{}</th>",
                     column.kind == Kind::number ? " class=\"n\"" : "",
                     sortable ? "<button type=\"button\">" + words + "</button>" : words);
}

std::string blocks_html(const std::vector<Block>& blocks);

struct HtmlRenderer {
  std::string operator()(const Heading& heading) const {
    return fmt::format("<h{0}>{1}</h{0}>\n", heading.level, html_of(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format("<p{}>{}</p>\n", paragraph.soft ? " class=\"soft\"" : "",
                       html_of(paragraph.text));
  }
  std::string operator()(const List& list) const {
    std::string out = "<ul>";
    for (const ListItem& item : list.items) {
      out += "<li>" + html_of(item.text);
      if (!item.nested.empty()) {
        out += "<ul>";
        for (const Text& nested : item.nested) out += "<li>" + html_of(nested) + "</li>";
        out += "</ul>";
      }
      out += "</li>";
    }
    return out + "</ul>\n";
  }
  std::string operator()(const TableBlock& table) const {
    const bool sortable = !table.sortable_id.empty();
    const std::string caption = html_text(table.caption);
    constexpr std::size_t long_from = 30;
    std::string out = fmt::format(
        "<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table{}>",
        table.rows.size() > long_from ? " tall" : "", caption,
        sortable ? fmt::format(" id=\"{}\"", table.sortable_id) : "");
    if (!sortable) out += "<caption>" + caption + "</caption>";
    out += "<thead><tr>";
    for (const TableColumn& column : table.columns) out += html_head(column, sortable);
    out += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
      out += "<tr>";
      for (std::size_t i = 0; i < row.size(); ++i)
        out += html_cell(row[i], table.columns[i].kind, sortable);
      out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
  }
  std::string operator()(const BarKey& key) const {
    std::string out = "<p class=\"stack-key\">";
    for (std::size_t i = 0; i < key.names.size(); ++i)
      out += fmt::format("<span class=\"b{}\"></span>{} ", i, html_text(key.names[i]));
    return out + "</p>\n";
  }
  std::string operator()(const Interactive& part) const { return part.html; }
  std::string operator()(const Pictures& pictures) const {
    constexpr std::size_t open = 12;
    std::string out = "<div class=\"figures\">";
    for (std::size_t i = 0; i < pictures.pictures.size(); ++i) {
      const auto& chart = pictures.pictures[i].chart;
      if (i == open)
        out += fmt::format("</div><details><summary>{} more</summary><div class=\"figures\">",
                           pictures.pictures.size() - open);
      if (chart)
        out +=
            fmt::format("<figure>{}<figcaption><strong>{}</strong><br>{}.</figcaption></figure>\n",
                        svg(*chart), html_text(chart->title), html_text(chart->description));
    }
    return out + (pictures.pictures.size() > open ? "</div></details>\n" : "</div>\n");
  }
  std::string operator()(const Details& details) const {
    return fmt::format("<details><summary>{}</summary>{}</details>\n", html_text(details.summary),
                       blocks_html(details.blocks));
  }
};

std::string blocks_html(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) out += std::visit(HtmlRenderer(), block);
  return out;
}

}  // namespace

std::string to_html(const Document& document) { return blocks_html(document.blocks()); }

}  // namespace headroom::report
