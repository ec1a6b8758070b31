// A run is read from its rows. For report/*.cpp alone.
#pragma once

#include <cstdint>

#include "report/run_info.hpp"
#include "report/sqlite.hpp"

namespace headroom::report {

/// As Database::run() has it.
RunInfo read_run(const Connection& connection, std::int64_t id);

}  // namespace headroom::report
