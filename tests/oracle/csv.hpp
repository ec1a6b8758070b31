// Reads the comma-separated tables of tests/oracle/data, quoted fields included.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace headroom::oracle {

using Row = std::map<std::string, std::string, std::less<>>;  ///< column → field

/// Rows of tests/oracle/data/`name`. Throws std::runtime_error for a missing file or a row whose
/// number of fields is not the header's.
std::vector<Row> read_csv(const std::string& name);

}  // namespace headroom::oracle
