// Curves for programs: a row a point, and the same with what was found of each line.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "model/answer/placement/strategy.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/device_map.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "report/chart.hpp"
#include "report/columns.hpp"
#include "sweep/curve/curve.hpp"
#include "sweep/launch/llama_cpp_flags.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using namespace model;

/// Columns as a sweep has them.
constexpr std::string_view shared[] = {
    "verdict",          "sure",        "reason",     "gpus_used",     "layers_gpu",
    "layers_cpu",       "layers_disk", "gpu_bytes",  "gpu_bytes_low", "gpu_bytes_high",
    "max_memory_bytes", "cpu_bytes",   "disk_bytes", "short_bytes",   "load_s",
    "ttft_s",           "tpot_s",      "total_s",    "tokens_s"};

/// The placement as the runtime takes it: a device map, or a number of layers.
json::value placement(const CurveLine& line, const ModuleTree& tree, const AllocationPoint& p) {
  const Engine& runtime = *line.scenario.runtime;
  if (!runs(p) || runtime.parallel.split == Split::tensors) return nullptr;
  if (runtime.offload.mode == Offload::compute) {
    const Size output = p.plan.head == Where::card ? 1 : 0;
    return json::value(fmt::format(
        "-ngl {}{}", model::counted_layers(*line.scenario.weights->model, p.plan.on_cards) + output,
        host_expert_words(*line.scenario.weights->model, p.plan.host_experts)));
  }
  json::object map;
  const Model& model = *line.scenario.weights->model;
  for (const auto& [module, device] : device_map_of(tree, model, assignment_of(p.plan)))
    map[module] =
        device == "cpu" || device == "disk" ? json::value(device) : json::value(std::stoi(device));
  return map;
}

std::string found_at(const CurveLine& line, std::size_t i) {
  std::string text;
  const auto add = [&](bool here, std::string_view word) {
    if (here) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  };
  add(line.first == i && i > 0, "least that runs");
  add(line.drawn.knee && line.drawn.knee->index == i, "knee");
  add(line.diminished == i, "returns diminish");
  add(line.recommended == i, "recommended");
  return text;
}

report::Value value_of_cell(const report::Cell& cell) {
  return std::visit(
      [](const auto& held) {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string_view>)
          return report::Value(std::string(held));
        else
          return report::Value(held);
      },
      cell);
}

/// Every column of a point but its placement.
std::vector<std::pair<std::string, report::Value>> columns_of(const CurveLine& line,
                                                              std::size_t i) {
  const AllocationPoint& p = line.points[i];
  const IntervalFactors factors = interval_factors(line.scenario);
  const bool fits = runs(p);
  std::vector<std::pair<std::string, report::Value>> all{
      {"runtime", std::string(line.scenario.runtime->name)},
      {"precision", std::string(line.scenario.weights->scheme->name)},
      {"gpu_budget_bytes", p.allocation.count()},
      {"found", found_at(line, i)},
      {"jump", jump_words(line, i)},
      {"strategy", fits ? strategy_words(line, p) : std::string()},
      {"layers", fits ? layers_words(line.scenario.weights->model->profile, p) : std::string()}};
  for (const std::string_view name : shared)
    all.emplace_back(
        name, value_of_cell(report::value_of(*report::find_column(name), p.estimate, factors)));
  using report::CurvePoint;
  for (const auto& [name, value] : {std::pair{"tokens_s", &CurvePoint::tokens_s},
                                    {"ttft_s", &CurvePoint::ttft_s},
                                    {"load_s", &CurvePoint::load_s}}) {
    const auto [low, high] = report::band(line.drawn.points[i], value);
    all.emplace_back(fmt::format("{}_low", name), fits ? report::Value(low) : report::Value());
    all.emplace_back(fmt::format("{}_high", name), fits ? report::Value(high) : report::Value());
  }
  all.emplace_back("gain_tokens_s_per_gib", p.gain ? report::Value(*p.gain) : report::Value());
  return all;
}

json::value bytes_at(const CurveLine& line, std::optional<std::size_t> point) {
  return point ? json::value(line.points[*point].allocation.count()) : json::value(nullptr);
}

}  // namespace

report::Table curve_table(const std::vector<CurveLine>& lines) {
  report::Table table;
  for (const CurveLine& line : lines) {
    const ModuleTree tree = held_tree(*line.scenario.weights);
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const auto columns = columns_of(line, i);
      if (table.names.empty()) {
        for (const auto& [name, value] : columns) table.names.push_back(name);
        table.names.emplace_back("placement");
      }
      table.rows.emplace_back();
      for (const auto& [name, value] : columns) table.rows.back().push_back(value);
      const json::value place = placement(line, tree, line.points[i]);
      table.rows.back().push_back(place.is_null() ? report::Value()
                                  : place.is_string()
                                      ? report::Value(std::string(place.as_string()))
                                      : report::Value(json::serialize(place)));
    }
  }
  return table;
}

json::object curve_object(const GivenScenario& given, const std::vector<CurveLine>& lines) {
  json::object all{{"model", given.model->name}, {"machine", given.machine->name}};
  all["assumptions"] = json::array();
  for (const auto& text : given.assumed) all["assumptions"].as_array().emplace_back(text);
  json::array array;
  for (const CurveLine& line : lines) {
    json::object object{
        {"runtime", line.scenario.runtime->name},
        {"precision", line.scenario.weights->scheme->name},
        {"weights_bytes", line.scenario.weights->total.count()},
        {"least_bytes", bytes_at(line, line.first)},
        {"knee_bytes",
         bytes_at(line, line.drawn.knee ? std::optional(line.drawn.knee->index) : std::nullopt)},
        {"returns_diminish_bytes", bytes_at(line, line.diminished)},
        {"recommended_bytes", bytes_at(line, line.recommended)},
        {"most_max_memory_bytes", line.first
                                      ? json::value(line.points.back().estimate.max_memory.count())
                                      : json::value(nullptr)},
        {"reason", line.reason}};
    const ModuleTree tree = held_tree(*line.scenario.weights);
    json::array points;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      json::object point;
      for (const auto& [name, value] : columns_of(line, i)) point[name] = json_value(value);
      point["placement"] = placement(line, tree, line.points[i]);
      points.push_back(std::move(point));
    }
    object["points"] = std::move(points);
    array.push_back(std::move(object));
  }
  all["lines"] = std::move(array);
  return all;
}

}  // namespace headroom::sweep
