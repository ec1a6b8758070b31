// An answer of `headroom place` for programs: json, and one row a strategy for csv and md.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "report/words.hpp"
#include "sweep/place/answer.hpp"
#include "sweep/place/place.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using namespace model;

json::value number(double value) {
  return std::isfinite(value) ? json::value(value) : json::value(nullptr);
}
json::value amount(const std::optional<Bytes>& bytes) {
  return bytes ? json::value(bytes->count()) : json::value(nullptr);
}

bool takes_maps(const Answer& answer) {
  return answer.given.scenario.runtime->offload.mode == Offload::stream;
}

void add_times(json::object& all, const Estimate& e) {
  all["load_s"] = number(e.load.value());
  all["ttft_s"] = number(e.ttft.value());
  all["tpot_s"] = number(e.tpot.value());
  all["tokens_s"] = e.tokens_s;
  all["class"] = report::speed_class(e);
}

json::object strategy_object(const Answer& answer, const Strategy& s) {
  json::object all{{"name", s.name}, {"meaning", s.meaning}, {"feasible", s.feasible}};
  all["needs"] = s.feasible ? json::value(nullptr) : json::value(needs(answer, s));
  all["needs_bytes"] =
      s.feasible || s.needed == Bytes(0) ? json::value(nullptr) : json::value(s.needed.count());
  const Estimate& on = s.explained.estimate;
  all["gpu_bytes"] = s.feasible ? json::value(on.gpu_bytes.count()) : json::value(nullptr);
  all["cpu_bytes"] = s.feasible ? json::value(on.cpu_bytes.count()) : json::value(nullptr);
  all["gpu_budget_bytes"] = s.scenario.gpu_budget.count();
  all["ram_budget_bytes"] = s.scenario.ram_budget.count();
  all["verdict"] = name_of(s.explained.estimate.verdict);
  all["sure"] = name_of(s.explained.estimate.sure);
  if (!s.feasible) return all;
  json::array devices;
  for (const DeviceUse& use : s.explained.devices)
    devices.push_back(json::object{{"name", use.name},
                                   {"kind", device_kind(use.where)},
                                   {"layers", use.layers},
                                   {"weights_bytes", use.weights.count()},
                                   {"kv_cache_bytes", use.kv_cache.count()},
                                   {"activations_bytes", use.activations.count()},
                                   {"overhead_bytes", use.overhead.count()},
                                   {"total_bytes", use.total.count()},
                                   {"budget_bytes", use.budget.count()}});
  all["devices"] = std::move(devices);
  if (s.mapped && s.mapped->written && takes_maps(answer)) {
    json::object max_memory;
    for (const DeviceMemory& device : s.mapped->memory)
      if (device.device != "disk") max_memory[device.device] = device.limit / 8;
    all["max_memory"] = std::move(max_memory);
  }
  add_times(all, s.explained.estimate);
  return all;
}

}  // namespace

json::object as_json(const Answer& answer) {
  json::object all;
  const bool any = answer.chosen < answer.strategies.size();
  if (any && takes_maps(answer))
    if (const Strategy& s = answer.strategies[answer.chosen]; s.mapped) {
      all = map_object(*answer.given.model, answer.tree, s.mapped->memory, s.mapped->map);
      all["names"] = names_note(*answer.given.model, s.mapped->map);
    }
  all["model"] = answer.given.model->name;
  all["machine"] = answer.given.machine->name;
  all["precision"] = answer.given.weights->scheme->name;
  all["strategy"] = any ? json::value(answer.strategies[answer.chosen].name) : json::value(nullptr);
  all["reason"] = answer.reason;
  if (const auto lines = doubts(*answer.given.model); !lines.empty())
    all["warnings"] = json::value_from(lines);
  all["notes"] = json::value_from(answer.notes);
  all["least_gpu_bytes"] = amount(answer.least);
  all["least_gpu_bytes_at_work"] = amount(answer.min_with_gpu);
  json::array strategies, orders;
  for (const Strategy& s : answer.strategies) strategies.push_back(strategy_object(answer, s));
  for (const Order& order : answer.orders) {
    json::object row{{"order", order.name}, {"fits", !order.layers.empty()}};
    if (!order.layers.empty()) {
      row["layers"] = order.layers;
      add_times(row, order.estimate);
    }
    orders.push_back(std::move(row));
  }
  all["strategies"] = std::move(strategies);
  all["orders"] = std::move(orders);
  if (!answer.contexts.empty()) all["contexts"] = contexts_json(answer);
  if (!answer.splits.empty()) all["splits"] = splits_json(answer);
  if (!answer.best_note.empty()) all["best"] = answer.best_note;
  if (!answer.best_flags.empty()) all["best_flags"] = answer.best_flags;
  return all;
}

report::Table as_table(const Answer& answer) {
  report::Table table{{"strategy", "feasible", "needs", "gpu_budget_bytes", "ram_budget_bytes",
                       "layers", "max_memory", "gpu_bytes", "cpu_bytes", "disk_bytes", "load_s",
                       "ttft_s", "tpot_s", "tokens_s", "class"},
                      {}};
  for (const Strategy& s : answer.strategies) {
    const Estimate& e = s.explained.estimate;
    const auto where_it_runs = [&](auto value) {
      return s.feasible ? report::Value(value) : report::Value();
    };
    table.rows.push_back(
        {std::string(s.name), std::string(s.feasible ? "yes" : "no"),
         s.feasible ? std::string() : needs(answer, s), s.scenario.gpu_budget.count(),
         s.scenario.ram_budget.count(), where_it_runs(layers_line(s.explained)),
         s.mapped && s.mapped->written && takes_maps(answer) ? passed(s.mapped->memory)
                                                             : std::string(),
         where_it_runs(e.gpu_bytes.count()), where_it_runs(e.cpu_bytes.count()),
         where_it_runs(e.disk_bytes.count()), where_it_runs(e.load.value()),
         where_it_runs(e.ttft.value()), where_it_runs(e.tpot.value()), where_it_runs(e.tokens_s),
         where_it_runs(std::string(report::speed_class(e)))});
  }
  return table;
}

}  // namespace headroom::sweep
