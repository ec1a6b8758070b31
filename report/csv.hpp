// CSV as RFC 4180 has it: CRLF after every record, quotes where they are needed and doubled inside.
// Numbers have the fewest digits that read back as the same number, in the unit of the column
// (bytes, seconds); an empty field means none.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include "report/condition.hpp"
#include "report/read.hpp"
#include "report/table.hpp"

namespace headroom::report {

bool needs_quotes(std::string_view text);
/// `text` as one field.
std::string csv_field(std::string_view text);

void write_csv(std::ostream& out, const Table& table);
/// Points of a run with these columns, in bounded memory: those for which `where` holds (a
/// condition over one row), or all. A failing stream throws std::ios_base::failure.
void write_csv(std::ostream& out, const Database& database, std::int64_t run,
               std::span<const Column* const> selected, const Condition* where = nullptr);
/// Every point with every column of columns_of its run.
void write_csv(std::ostream& out, const Database& database, std::int64_t run);
enum class Compression { gzip, zstd };
/// As gzip members or zstd frames, one after the other, with nothing in them but the points.
void write_compressed_csv(std::ostream& out, const Database& database, std::int64_t run,
                          Compression compression);

}  // namespace headroom::report
