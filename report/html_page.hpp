// The frame of every HTML page: one file that needs nothing beside it and works without a network.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/document.hpp"

namespace headroom::report {

/// A part of a page under a heading of its own; left out where it is empty.
struct PageSection {
  std::string heading;
  Document content;
};

/// `name` is the page's heading; with `subject` it is its title. `summary` stands above the list of
/// contents.
std::string html_page(std::string_view name, std::string_view subject, const Document& summary,
                      std::span<const PageSection> sections);

/// `document` with the bytes of its image files inside, for html_page. Images are relative to
/// `folder`; one that is not there is left out.
Document with_images(const Document& document, const std::filesystem::path& folder);

}  // namespace headroom::report
