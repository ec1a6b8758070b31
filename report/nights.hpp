// A run and those of the same name before it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/read.hpp"

namespace headroom::report {

/// The complete run of the same name before `run`.
std::optional<std::int64_t> run_before(const Database& database, std::int64_t run);

/// One point over the complete runs of one name, oldest first.
struct Night {
  RunSummary run;
  std::optional<model::Estimate> estimate;  ///< none: the run does not have the point
};
/// The point of `run` there and in at most `most` complete runs before.
std::vector<Night> nights(const Database& database, std::int64_t run, Size point, std::size_t most);

}  // namespace headroom::report
