#include "sweep/training/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/infer/intervals.hpp"
#include "model/train/outcome.hpp"
#include "model/train/time.hpp"
#include "sweep/run/result_row.hpp"

namespace headroom::sweep {
namespace {

using report::AxisValue;

std::string method_of(const model::TrainingScenario& s) {
  if (s.adapter == nullptr) return "full";
  return fmt::format("{}{}", s.base != nullptr ? "q" : "",
                     s.adapter->magnitudes() > 0 ? "dora" : "lora");
}

std::string offload_of(const model::TrainingScenario& s) {
  const std::string what = s.parameters_on_host ? "params" : s.optimizer_on_host ? "optimizer" : "";
  return what.empty() ? "none" : s.on_disk ? what + "-nvme" : what;
}

}  // namespace

report::Digit training_runtime_columns(const std::vector<PacedRuntime>& runtimes) {
  report::Digit columns{{"runtime", {}},           {"memory_low", {}},
                        {"memory_high", {}},       {"tpot_low", {}},
                        {"tpot_high", {}},         {"memory_measurements", {}},
                        {"tpot_measurements", {}}, {"interval_source", {}}};
  for (const PacedRuntime& each : runtimes) {
    const model::TrainingRuntime* r = each.runtime;
    const model::Constant time = each.pace().interval;
    const AxisValue values[] = {std::string(r->name),
                                r->spread.low,
                                r->spread.high,
                                time.low,
                                time.high,
                                std::int64_t{r->spread.measurements},
                                std::int64_t{time.measurements},
                                std::string(r->spread.source)};
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i].values.push_back(values[i]);
  }
  return columns;
}

report::Table training_row(const GivenTraining& given, const TrainingAnswer& answer) {
  const model::TrainingScenario& s = given.scenario;
  report::Digit axes;
  const auto add_all = [&](const report::Digit& more) {
    axes.insert(axes.end(), more.begin(), more.end());
  };
  const auto add = [&](std::string_view column, AxisValue value) {
    axes.push_back({std::string(column), {std::move(value)}});
  };
  const std::string name = s.model->name;
  add_all(report::model_digit({&name, 1}, {&s.model, 1}));
  if (given.machine) {
    const Machine* machine = &*given.machine;
    add_all(report::machine_digit({&machine->name, 1}, {&machine, 1}));
  }
  const bool has_card = given.machine && !given.machine->devices.empty();
  const PacedRuntime paced{s.runtime, has_card ? &given.machine->devices.front() : nullptr};
  add_all(training_runtime_columns({paced}));
  add("task", std::string("training"));
  add("adapters", method_of(s));
  if (s.adapter != nullptr) {
    if (!s.adapter->modules.empty()) add("rank", s.adapter->modules.front().rank);
    add("targets", fmt::format("{}", fmt::join(s.adapter->all_targets(), ",")));
  }
  add("sequence", s.sequence);
  add("batch", s.batch);
  add("accumulated", s.accumulated);
  add("optimizer", std::string(s.optimizer->name()));
  add("recipe", std::string(s.recipe->name));
  add("matrices", std::string(s.matrices != nullptr ? s.matrices->name : "usual"));
  add("zero", std::int64_t{s.zero});
  add("checkpointing",
      std::string(model::recomputation_names[static_cast<std::size_t>(s.recomputation)]));
  add("attention", std::string(model::name_of(s.attention)));
  add("kernels", std::string(s.fused_kernels ? "liger" : s.fused_loss ? "fused-loss" : "usual"));
  add("offload", offload_of(s));
  add("data_parallel", s.parallel.replicas);
  add("tensor_parallel", s.parallel.tensor);
  add("pipeline_parallel", s.parallel.stages);
  add("virtual_stages", s.parallel.chunks);
  add("expert_parallel", s.parallel.experts);
  add("context_parallel", s.parallel.context);
  model::IntervalFactors factors{};
  factors.memory = model::Interval(s.runtime->spread);
  factors.tpot = model::Interval(paced.pace().interval);
  report::Table table =
      result_row(axes, answer.outcome ? *answer.outcome : model::row_of(answer.memory), factors);
  if (!answer.outcome)
    for (const std::string_view none : {"verdict", "sure"}) table.rows[0][table.index(none)] = {};
  return table;
}

}  // namespace headroom::sweep
