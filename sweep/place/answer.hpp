// Result of `headroom place` for a model on a machine, before it is printed.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/answer/placement/layers_by_context.hpp"
#include "model/answer/placement/parallel_splits.hpp"
#include "model/answer/placement/strategy.hpp"
#include "model/infer/estimate.hpp"
#include "report/table.hpp"
#include "sweep/options/options.hpp"
#include "sweep/options/scenario_options.hpp"

namespace headroom::sweep {

/// One way to place the model under all of the budgets, and how long a step takes then.
struct Order {
  std::string name;
  std::string layers;  ///< "gpu 0: 0-12; cpu: 13-25; disk: 26-47"; empty: it does not fit
  model::Estimate estimate;
};

struct Answer {
  const GivenScenario& given;
  model::ModuleTree tree;
  std::vector<model::Strategy> strategies;  ///< the best placement comes last, where there is one
  std::vector<Order> orders;                ///< the best one last
  std::vector<model::LayersAtContext> contexts;  ///< if the runtime computes on the CPU too
  std::vector<model::ParallelSplit> splits;      ///< if the runtime splits matrices
  std::string best_note;   ///< "exact", or how far from the best of all; empty: no such search
  std::string best_flags;  ///< llama.cpp's, that place it so; empty where it has none
  std::optional<Bytes> least, min_with_gpu;
  std::size_t chosen = 0;          ///< index of the strategy; their number if none runs
  std::string reason;              ///< why it was chosen
  std::vector<std::string> notes;  ///< those of `estimate` about fewer cards and requests
};

/// Throws UsageError for --strategy of another name.
Answer answer_of(const Options& options, const GivenScenario& given);

/// "layers 0-5 on gpu 0" and so on of what is explained, in one line.
std::string layers_line(const model::Explanation& explained);
/// "needs 55.88 GiB (60.0 GB) of GPU memory", for a strategy that is not feasible.
std::string needs(const Answer& answer, const model::Strategy& strategy);
/// "55.88 GiB (60.0 GB)".
std::string both_units(Bytes bytes);
/// max_memory as Python has it: {0: "5558MiB", "cpu": "31000MiB"}.
std::string passed(const model::MaxMemory& memory);

/// At most about 30 lines of at most 100 columns.
std::string place_screen(const Answer& answer);
/// Each strategy with its devices, orders, contexts and splits.
std::string as_text(const Answer& answer, const Options& options);
std::string contexts_text(const Answer& answer);
std::string splits_text(const Answer& answer);
boost::json::array contexts_json(const Answer& answer);
boost::json::array splits_json(const Answer& answer);
boost::json::object as_json(const Answer& answer);
report::Table as_table(const Answer& answer);

}  // namespace headroom::sweep
