// A run and those of the same name before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/infer/estimate.hpp"
#include "report/read.hpp"
#include "report/table.hpp"

namespace headroom::report {

/// The complete run of the same name before `run`.
std::optional<std::int64_t> run_before(const Database& database, std::int64_t run);

/// One point over the complete runs of one name, oldest first.
struct Night {
  RunSummary run;
  std::optional<model::Estimate> estimate;  ///< none: the run does not have the point
  std::vector<Value> values;                ///< by followed column; empty where there is none
};
/// The point of `run` there and in at most `most - 1` complete runs before. `followed`: outcomes
/// of the point, and facts and prices as each run stores them.
std::vector<Night> nights(const Database& database, std::int64_t run, Size point, std::size_t most,
                          std::span<const Column* const> followed = {});

}  // namespace headroom::report
