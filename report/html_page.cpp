#include "report/html_page.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <variant>

#include "hardware/embedded.hpp"
#include "report/svg.hpp"

namespace headroom::report {
namespace {

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_page())
    if (file.name == name) return file.bytes;
  return {};
}

/// The address that holds an SVG file itself.
std::string data_address(const std::string& svg) {
  std::string text = "data:image/svg+xml,";
  for (const char c : svg) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain)
      text += c;
    else
      text += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  }
  return text;
}

/// A path as Markdown may write it: "<a b.svg>".
std::string plain_path(const std::filesystem::path& path) {
  std::string text = path.string();
  if (text.starts_with('<') && text.ends_with('>')) text = text.substr(1, text.size() - 2);
  return text;
}

std::string images(const Pictures& pictures, const std::filesystem::path& folder) {
  std::string html = "<div class=\"figures\">";
  for (const Picture& each : pictures.pictures) {
    std::ifstream file(folder / plain_path(each.image), std::ios::binary);
    const std::string svg{std::istreambuf_iterator<char>(file), {}};
    if (svg.empty()) continue;
    html +=
        fmt::format("<figure><img alt=\"{0}\" src=\"{1}\"><figcaption>{0}</figcaption></figure>\n",
                    html_text(each.image_title), data_address(svg));
  }
  return html + "</div>\n";
}

}  // namespace

std::string html_page(std::string_view name, std::string_view subject, const Document& summary,
                      std::span<const PageSection> sections) {
  std::string contents, body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& [heading, content] = sections[i];
    if (content.empty()) continue;
    contents += fmt::format("<li><a href=\"#s{}\">{}</a></li>", i, html_text(heading));
    body +=
        fmt::format("<section aria-labelledby=\"s{0}\"><h2 id=\"s{0}\">{1}</h2>\n{2}</section>\n",
                    i, html_text(heading), to_html(content));
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
      "<link rel=\"icon\" href=\"data:,\"><title>{0}: {6}</title>"
      "<style>\n{1}</style></head>\n<body><a class=\"skip\" href=\"#main\">To the content</a>"
      "<header><h1>{0}</h1>{2}<nav aria-label=\"Contents\"><ul>{3}</ul></nav></header>\n"
      "<main id=\"main\">{4}</main>\n<script>\n{5}</script></body></html>\n",
      html_text(name), embedded("page.css"), to_html(summary), contents, body, embedded("page.js"),
      html_text(subject));
}

Document with_images(const Document& document, const std::filesystem::path& folder) {
  Document inside;
  for (const Block& each : document.blocks()) {
    if (const auto* pictures = std::get_if<Pictures>(&each))
      inside.add(Interactive{images(*pictures, folder)});
    else
      inside.add(each);
  }
  return inside;
}

}  // namespace headroom::report
