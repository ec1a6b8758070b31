#include "sweep/accuracy/constant_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sweep/accuracy/prediction.hpp"
#include "sweep/minimise.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Engine;

constexpr Bounds fitted[] = {
    {"context_bytes", 1e8, 2e9},        {"decode_bandwidth", 0.02, 1.0},
    {"kernel_s", 1e-7, 5e-4},           {"cache_cost", 0.3, 5.0},
    {"moe_kernels_per_layer", 1, 100},  {"expert_kernels", 0.1, 12},
    {"packed_kernels", 0.05, 5},        {"step_s", 1e-5, 1e-2},
    {"sequence_s", 2e-7, 2e-4},         {"expert_cost", 0.4, 6.0},
    {"repeat_bandwidth", 3e10, 2e12},   {"eager_kernel_s", 1e-6, 2e-4},
    {"score_compute", 0.02, 1.0},       {"prefill_compute", 0.01, 1.0},
    {"byte_compute", 0.01, 1.0},        {"expert_reads", 0.03, 15},
    {"unpack_bandwidth", 0.1, 1.5},     {"reduce_latency_s", 4e-6, 5e-4},
    {"reduce_over_bus_s", 5e-6, 5e-4},  {"reduce_over_network_s", 5e-6, 5e-4},
    {"link_bandwidth", 0.05, 1.0},      {"score_traffic", 4, 100},
    {"activation_traffic", 10, 500},    {"request_s", 0.0005, 0.1},
    {"stream_bandwidth", 0.05, 1.0},    {"cpu_bandwidth", 0.1, 1.0},
    {"cpu_compute", 0.05, 1.5},         {"thread_bandwidth", 1e9, 6e10},
    {"device_handoff_s", 1e-6, 2e-3},   {"remote_numa_share", 0.02, 1.0},
    {"load_read_bandwidth", 2e8, 4e10}, {"load_copy_bandwidth", 2e8, 4e10},
    {"load_tensor_s", 1e-6, 5e-3},      {"load_fixed_s", 0.2, 120},
    {"load_layer_s", 0.001, 5},         {"load_disk_share", 0.02, 1.0}};

/// Calls `f` for each constant of `rows` that the unknown stands for.
template <class Rows, class F>
void each_cell(Rows&& rows, const Unknown& unknown, F&& f) {
  for (auto& row : rows) {
    if (unknown.constant->of_engine) {
      f(unknown.constant->in(row));
      continue;
    }
    for (std::size_t c = 0; c < model::card_classes; ++c)
      for (std::size_t w = 0; w < model::widths; ++w)
        if ((unknown.cards == any || unknown.cards == c) &&
            (unknown.width == any || unknown.width == w))
          f(row.kernels.efficiency[c][w].*unknown.constant->of_efficiency);
  }
}

}  // namespace

std::span<const Bounds> constant_bounds() { return fitted; }

const model::NamedConstant& constant_named(std::string_view name) {
  return *std::ranges::find(model::named_constants(), name, &model::NamedConstant::name);
}

bool is_of_memory(const model::NamedConstant& constant) { return constant.name == "context_bytes"; }

bool measures(const ScoredRow& subject, const model::NamedConstant& constant,
              bool always_offloads) {
  const Statistic statistic = subject.statistic;
  if (is_of_memory(constant))
    return statistic == Statistic::card_used || statistic == Statistic::all_but_cache;
  if (constant.of_efficiency && subject.group.starts_with("offload")) return always_offloads;
  const model::Scenario& s = subject.scenario;
  const bool of_prompts = constant.name == "prefill_compute" || constant.name == "byte_compute" ||
                          constant.name == "expert_reads";
  if (of_prompts && subject.group.starts_with("decode"))
    return statistic == Statistic::generation && s.prompt_tokens >= 30 * s.output_tokens;
  return !is_memory(statistic);
}

std::string name_of(const Unknown& unknown) {
  std::string name(unknown.constant->name);
  if (!unknown.constant->of_efficiency) return name;
  const auto cards = unknown.cards == any
                         ? "any card"
                         : model::name_of(static_cast<model::CardClass>(unknown.cards));
  const auto width =
      unknown.width == any ? "any width" : model::name_of(static_cast<model::Width>(unknown.width));
  return fmt::format("{} ({}, {})", name, cards, width);
}

ConstantSearch::ConstantSearch(std::vector<Engine> rows, std::vector<ScoredRow> subjects)
    : rows_(std::move(rows)), subjects_(std::move(subjects)) {
  for (ScoredRow& each : subjects_) {
    each.scenario.runtime = &*std::ranges::find(rows_, each.scenario.runtime->name, &Engine::name);
    ++group_size_[each.group];
  }
  for (std::size_t i = 0; i < subjects_.size(); ++i) error_.push_back(error_of(i));
  always_offloads_ = std::ranges::all_of(subjects_, [](const ScoredRow& each) {
    return is_memory(each.statistic) || each.group.starts_with("offload");
  });
}

std::optional<double> ConstantSearch::expected(std::size_t i) const {
  std::string why;
  return predict(subjects_[i], why);
}

double ConstantSearch::error_of(std::size_t i) const {
  constexpr double most = 6;
  const auto found = expected(i);
  return found ? std::min(most, std::abs(std::log(*found / subjects_[i].measured))) : most;
}

double ConstantSearch::get(const Unknown& unknown) const {
  const Engine& measured = subjects_.empty() ? rows_.front() : *subjects_.front().scenario.runtime;
  double value = 0;
  each_cell(std::span(&measured, 1), unknown, [&](const Constant& cell) { value = cell.value; });
  return value;
}

void ConstantSearch::set(const Unknown& unknown, double value) {
  each_cell(rows_, unknown, [&](Constant& cell) { cell.value = value; });
}

std::vector<std::size_t> ConstantSearch::affected(const Unknown& unknown) {
  const double before = get(unknown);
  std::vector<std::size_t> rows;
  set(unknown, before > 0 ? before * 1.3 : unknown.high / 2);
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    if (measures(subjects_[i], *unknown.constant, always_offloads_) &&
        std::abs(error_of(i) - error_[i]) > 1e-9)
      rows.push_back(i);
  set(unknown, before);
  return rows;
}

double ConstantSearch::cost(const Unknown& unknown, double value) {
  set(unknown, value);
  double sum = 0;
  for (const std::size_t i : unknown.rows) sum += weight(i) * error_of(i);
  if (unknown.common > 0) sum += unknown.pull * std::pow(std::log(value / unknown.common), 2);
  return sum;
}

double ConstantSearch::best(const Unknown& unknown, double before) {
  return minimise(unknown.low, unknown.high, before,
                  [&](double value) { return cost(unknown, value); });
}

void ConstantSearch::solve(const std::vector<Unknown>& unknowns) {
  for (int sweep = 0; sweep < 12; ++sweep) {
    double moved = 0;
    for (const Unknown& each : unknowns) {
      const double before = std::max(get(each), each.low);
      const double found = best(each, before);
      set(each, found);
      moved = std::max(moved, std::abs(std::log(found / before)));
    }
    if (moved < 0.005) break;
  }
  for (std::size_t i = 0; i < subjects_.size(); ++i) error_[i] = error_of(i);
}

}  // namespace headroom::sweep
