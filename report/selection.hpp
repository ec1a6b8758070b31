// Which points of a run a report shows: for each machine, runtime, model and precision one line,
// with one entry for each GPU budget. Every other axis stands at one value: names at the first of
// the spec, sizes at the smallest, RAM and disk budgets at the largest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/axes.hpp"
#include "report/read.hpp"

namespace headroom::report {

struct BudgetPoint {
  Size point = 0;
  std::optional<Size> budget;  ///< bytes on each GPU; none: the runtime's default
  model::Estimate estimate;
  std::optional<Size> longest_context{};  ///< tokens per sequence that still fit; none: unknown
};

struct ModelRow {
  std::size_t grid = 0;
  std::string machine, runtime, model, precision;  ///< precision as the spec has it: "auto", "int8"
  std::string label;  ///< over a column or a curve: precision, with the runtime where that differs
  std::string group;  ///< the runtime, where its curves have figures of their own; else empty
  bool one_engine = true;         ///< no line of the machine has another runtime
  std::string held;               ///< precision of the weights in use
  std::string checkpoint;         ///< precision of the published weights
  bool as_published = false;      ///< the weights are the checkpoint's, as the engine loads them
  std::string conditions;         ///< "batch 1, 512 + 128 tokens, KV cache in fp16"
  double parameters = 0;          ///< 0: unknown
  Size gpus = 0, gpu_memory = 0;  ///< cards of the machine and their memory; 0: unknown
  Size batch = 1;                 ///< sequences or concurrent requests on each replica
  /// The engine admits requests as they come; else it serves one batch at a time.
  bool admits_requests = true;
  model::IntervalFactors factors{};
  std::vector<BudgetPoint> entries;  ///< by budget, the default last; never empty

  /// The entry with the largest budget: what tables show.
  const BudgetPoint& roomiest() const { return entries.back(); }
};

/// In the order of the spec. Points that were excluded, or are of training, are left out.
std::vector<ModelRow> lines_of(const Database& database, const Axes& axes, std::int64_t run);

/// By line: true if it has precision `auto` and another one of `lines` names an equal precision.
std::vector<bool> repeated(const std::vector<ModelRow>& lines);

/// Among lines that differ only in their grid, the one with the roomiest entry; order is kept.
std::vector<const ModelRow*> one_per_name(const std::vector<ModelRow>& lines);

}  // namespace headroom::report
