// Views as data: a name, a question, and the SQL that answers it over result_all. `:run` is the
// run.
#pragma once

#include <span>
#include <string_view>

namespace headroom::report {

struct View {
  std::string_view name;     ///< as a user types it
  std::string_view title;    ///< the question
  std::string_view caption;  ///< how to read the answer
  std::string_view sql;      ///< columns that are in columns() get their units from there
};

std::span<const View> views();
/// Throws UnknownName with the nearest names.
const View& view(std::string_view name);

}  // namespace headroom::report
