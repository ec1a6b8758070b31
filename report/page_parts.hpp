// Parts of a run's page, for page*.cpp alone. Each is empty where there is nothing to show.
#pragma once

#include <string>

#include "report/reports.hpp"

namespace headroom::report {

/// Points that a page holds at most: about 3 MB of data.
inline constexpr Size most_page_points = 100'000;

/// A Markdown list with its nested lists and paragraphs as HTML.
std::string html_list(const std::string& markdown);
/// A small table as HTML, under this caption.
std::string html_table(const Table& table, std::string_view caption);

std::string changes_part(const Source& source);
/// By the user's prices where the run had some, else by list prices.
std::string purchases_part(const Source& source);
/// Of grids that ask for a concurrency.
std::string serving_part(const Source& source);
std::string points_part(const Source& source);
std::string nights_part(const Source& source);

}  // namespace headroom::report
