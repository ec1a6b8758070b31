// Long lists: whole in a pipe or a file, cut short on a terminal unless all is asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/table.hpp"
#include "sweep/options/options.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {

/// ListLength of a list that fit on a screen together with what stands around them.
inline constexpr std::size_t screen_rows = 24;

enum class ListLength { all, few };

/// A table of which a screen shows the first rows. `rest` is the line about the others; "{}" in it
/// is their number.
std::string list_text(const std::vector<ScreenColumn>& columns,
                      std::vector<std::vector<std::string>> rows, ListLength shown,
                      std::string_view rest);

/// All rows where the output is no terminal or `whole` asks for them.
ListLength length_for(const Options& options, bool whole);

/// Writes a table of name, property, value. As text it has each name once, and lines of at most
/// screen_width.
void show_properties(const Options& options, const report::Table& table);

}  // namespace headroom::sweep
