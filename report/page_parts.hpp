// Parts of a run's page, for page*.cpp alone. Each is empty where there is nothing to show.
#pragma once

#include "report/document.hpp"
#include "report/reports.hpp"

namespace headroom::report {

/// Points that a page holds at most: about 3 MB of data.
inline constexpr Size max_page_points = 100'000;

/// `diff`: from the run before; null: there is none.
Document changes_part(const Diff* diff);
/// By the user's prices where the run had some, else by list prices.
Document purchases_part(const Source& source);
/// Grids that ask for a concurrency.
Document serving_part(const Source& source);
Document points_part(const Source& source);
Document nights_part(const Source& source);

}  // namespace headroom::report
