// A run and those of the same name before it.
#pragma once

#include <cstdint>
#include <memory>
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

/// A run and at most `most - 1` complete ones before it. The database must outlive it.
class Nights {
 public:
  Nights(const Database& database, std::int64_t run, std::size_t most);
  ~Nights();
  std::size_t count() const { return runs_.size(); }
  /// The point of the run in each. `followed`: outcomes of the point, and facts and prices as each
  /// run stores them.
  std::vector<Night> of(Size point, std::span<const Column* const> followed = {}) const;

 private:
  struct Run;
  const Database* database_;
  std::vector<std::unique_ptr<Run>> runs_;  ///< latest first
};

}  // namespace headroom::report
