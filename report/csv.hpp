// CSV as RFC 4180 has it: CRLF after every record, quotes where they are needed and doubled inside.
// Numbers have the fewest digits that read back as the same number, in the unit of the column
// (bytes, seconds); an empty field means none.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "report/read.hpp"
#include "report/table.hpp"

namespace headroom::report {

/// `text` as one field.
std::string csv_field(std::string_view text);

void write_csv(std::ostream& out, const Table& table);
/// Every point of a run with every column of columns(), in bounded memory. A failing stream throws
/// std::ios_base::failure.
void write_csv(std::ostream& out, const Database& database, std::int64_t run);

}  // namespace headroom::report
