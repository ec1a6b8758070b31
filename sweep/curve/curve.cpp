#include "sweep/curve/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "hardware/quantity_text.hpp"
#include "model/describe/layer_numbers.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/high_end.hpp"
#include "report/words.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

double gib(Bytes bytes) { return real_count(bytes) / GiB; }

/// True if it stays within its limit even at the high end of its memory's interval. The limit is
/// the allocation for an engine that sets aside just that, else the memory of each card.
bool within_cards(const CurveLine& line, const AllocationPoint& point) {
  if (point.plan.cards == 0) return true;
  if (line.scenario.runtime->memory.sets_aside() &&
      (point.estimate.gpu_bytes_high > point.allocation ||
       is_at_limit(*line.scenario.runtime, point.estimate)))
    return false;
  Scenario s = line.scenario;
  s.gpu_budget = point.allocation;
  s = admitted_scenario(s);
  return stays_on_cards_at_high_end(Uses(s), point.plan);
}

report::Curve drawn(const CurveLine& line, report::Between between) {
  report::Curve curve{line.label, {}, {}, {}, between};
  std::vector<double> allocations, speeds;
  for (std::size_t i = 0; i < line.points.size(); ++i) {
    const AllocationPoint& p = line.points[i];
    const Estimate& e = p.estimate;
    const bool fits = runs(p);
    curve.points.push_back({gib(p.allocation), fits ? e.tokens_s : none,
                            fits ? e.ttft.value() : none, fits ? e.load.value() : none, fits,
                            interval_factors(line.scenario).times(e)});
    allocations.push_back(curve.points.back().allocation);
    speeds.push_back(curve.points.back().tokens_s);
    if (const std::string words = jump_words(line, i); !words.empty())
      curve.marks.push_back({i, words});
  }
  const bool complete = report::grade(line.points.back().estimate) == report::Grade::on_gpus;
  curve.knee =
      report::find_knee(allocations, speeds, complete ? report::End::complete : report::End::open);
  return curve;
}

/// Whole answers a second, of the sequences that run at once. A prompt that is slow counts as much
/// as output that is.
double answers_s(const CurveLine& line, const AllocationPoint& point) {
  const Estimate& e = point.estimate;
  return runs(point) ? static_cast<double>(line.scenario.batch - e.queued) / e.total.value() : 0.0;
}

/// True if cards and CPU have one memory: a smaller allocation leaves no more of it.
bool has_one_memory(const CurveLine& line) {
  return std::ranges::any_of(line.scenario.machine->devices, &Device::unified_memory);
}

/// A speed this many times that of the allocations that surely fit is worth one that may not.
constexpr double worth_a_risk = 2;

/// An engine that sets aside its allocation is safest with the most, where none surely fits.
bool is_safest_with_most(const CurveLine& line, bool any_fits) {
  return !any_fits && line.scenario.runtime->memory.sets_aside();
}

std::string most_words(const AllocationPoint& p) {
  if (p.estimate.gpu_bytes_high <= p.allocation)
    return "the most that there is, as no verdict of it is sure";
  return fmt::format("the most that there is, as it may need up to {}",
                     to_text(p.estimate.gpu_bytes_high));
}

/// A larger allocation on each card takes less of them all where it needs fewer cards.
bool takes_less(const AllocationPoint& p, const AllocationPoint& other) {
  const Estimate &a = p.estimate, &b = other.estimate;
  return a.gpus_used > 0 && a.gpus_used < b.gpus_used &&
         Size{a.gpus_used} * a.gpu_bytes < Size{b.gpus_used} * b.gpu_bytes;
}

/// The least allocation, of all cards together, within the knee's share of the best speed of a
/// whole answer. Allocations that stay on the cards at the high end of the interval come first,
/// unless another is over `worth_a_risk` times as fast.
void recommend(CurveLine& line) {
  double best = 0, best_within = 0;
  for (const AllocationPoint& p : line.points) {
    best = std::max(best, answers_s(line, p));
    if (within_cards(line, p)) best_within = std::max(best_within, answers_s(line, p));
  }
  if (best == 0) {
    const Estimate& last = line.points.back().estimate;
    line.reason = fmt::format("it runs at no allocation: {}", report::reason_words(last.reason));
    if (last.short_bytes > Bytes(0))
      line.reason += fmt::format(" by {}", to_text(last.short_bytes));
    return;
  }
  const bool safe = worth_a_risk * best_within >= best;
  const double share = has_one_memory(line) ? 1 : report::knee_share;
  const double reachable = safe ? best_within : best, wanted = share * reachable;
  const bool most = is_safest_with_most(line, best_within > 0);
  for (std::size_t i = 0; i < line.points.size(); ++i)
    if (const AllocationPoint& p = line.points[i];
        answers_s(line, p) >= wanted && (!safe || within_cards(line, p)) &&
        (most || !line.recommended || takes_less(p, line.points[*line.recommended])))
      line.recommended = i;
  const AllocationPoint& p = line.points[*line.recommended];
  if (most) {
    line.reason = most_words(p);
    return;
  }
  line.reason =
      has_one_memory(line)
          ? std::string(
                "the least with the best speed of a whole answer, as GPU and CPU have one "
                "memory")
          : fmt::format(
                "the least with {:.0f} % of the best speed of a whole answer (it reaches {:.0f} %)",
                100 * report::knee_share, 100 * answers_s(line, p) / reachable);
  if (!safe)
    line.reason += fmt::format("; it may need up to {}, more than there is{}",
                               to_text(p.estimate.gpu_bytes_high),
                               best_within > 0 ? fmt::format(", but is {:.0f} times as fast as any "
                                                             "that surely fits",
                                                             best / best_within)
                                               : std::string());
  else if (best_within < report::knee_share * best)
    line.reason +=
        " among those that stay on the card at the high end of their interval; more may run out of "
        "memory";
  if (p.allocation == Bytes(0) && reachable == best)
    line.reason += fmt::format("; no amount of GPU memory makes it more than {:.0f} % faster",
                               100 * (1 / share - 1));
}

/// "0-12"; cards that share every matrix are named together.
std::string range_words(const std::string& device, const std::string& layers) {
  return layers.empty() ? std::string() : device + ": " + layers;
}

}  // namespace

std::string strategy_words(const CurveLine& line, const AllocationPoint& point) {
  if (point.plan.host_experts.size() > 0 && point.plan.on_cpu.size() > 0)
    return "last layers on GPUs, their experts in host memory";
  if (point.plan.host_experts.size() > 0)
    return fmt::format("all layers on GPUs, experts of {} in host memory",
                       point.plan.host_experts.size());
  const Engine& runtime = *line.scenario.runtime;
  const Plan& plan = point.plan;
  if (plan.cards == 0) return "all on the CPU";
  if (runtime.parallel.split == Split::tensors) return "matrices shared by GPUs";
  if (plan.on_cpu.size() + plan.on_disk.size() == 0) return "all on GPUs";
  return runtime.offload.mode == Offload::compute ? "last layers on GPUs" : "first layers on GPUs";
}

std::string layers_words(const Profile& profile, const AllocationPoint& point) {
  const Plan& plan = point.plan;
  std::string text;
  const auto add = [&](const std::string& device, const std::string& layers) {
    const std::string words = range_words(device, layers);
    if (!words.empty()) text += (text.empty() ? "" : "; ") + words;
  };
  for (Size card = plan.first_used_card; card < plan.cards; card += plan.shards) {
    std::string layers;
    std::string_view stack;
    for_pieces_on_card(plan, card, [&](const LayerSpan& p) {
      const std::string words = layer_words(profile, p.layers, stack);
      stack = last_stack(profile, p.layers, stack);
      layers += (layers.empty() || words.empty() ? "" : ", ") + words;
    });
    if (layers.empty() && plan.has_head(card)) layers = "output";
    add(plan.shards > 1 ? fmt::format("gpu {}-{}", card, card + plan.shards - 1)
                        : fmt::format("gpu {}", card),
        layers);
  }
  for (const auto& [where, name] : {std::pair{Where::cpu, "cpu"}, {Where::disk, "disk"}})
    for_pieces_in(plan, where,
                  [&](const LayerSpan& p) { add(name, layer_words(profile, p.layers)); });
  if (point.plan.host_experts.size() > 0)
    add("cpu", "experts of " + layer_words(profile, point.plan.host_experts));
  return text;
}

std::string jump_words(const CurveLine& line, std::size_t point) {
  const AllocationPoint& p = line.points[point];
  const bool streams = line.scenario.runtime->offload.mode == Offload::stream;
  const auto happens = [&](Jump jump) { return std::ranges::find(p.jumps, jump) != p.jumps.end(); };
  // All layers move together: nothing is streamed, and no layer is the last.
  const bool whole = happens(Jump::gpu_computes) && happens(Jump::last_layer);
  std::string text = whole ? "all on GPU" : "";
  for (const Jump jump : p.jumps) {
    std::string words;
    if (whole &&
        (jump == Jump::gpu_computes || jump == Jump::last_layer || jump == Jump::output_on_gpus))
      continue;
    if (jump == Jump::gpu_computes && p.plan.on_cards.size() == 0 && !streams) continue;
    switch (jump) {
      case Jump::runs:
        words = "runs";
        break;
      case Jump::gpu_computes:
        words = streams ? "GPU takes over, weights streamed" : "first GPU layers";
        break;
      case Jump::no_disk:
        words = "no disk";
        break;
      case Jump::last_layer:
        words = "last layer";
        break;
      case Jump::experts_on_host:
        words = "all layers, experts on the CPU";
        break;
      case Jump::output_on_gpus:
        words = "output layer";
        break;
      case Jump::more_gpus:
      case Jump::fewer_gpus:
        words = counted(p.plan.cards - p.plan.first_used_card, "GPU");
        break;
      case Jump::slower:
        words = "slower than with less";
        break;
    }
    text += (text.empty() ? "" : ", ") + words;
  }
  return text;
}

std::string why_not_words(const Estimate& e) {
  const std::string_view reason = report::reason_words(e.reason);
  if (e.verdict == Verdict::refused) return fmt::format("refused: {}", reason);
  return fmt::format("{} by {}", reason, to_text(e.short_bytes));
}

CurveLine curve_line(const Scenario& scenario, std::string label, std::optional<Bytes> step) {
  if (!scenario.weights->model->writes())
    throw std::invalid_argument(fmt::format("{} writes no text: a curve shows tokens per second",
                                            scenario.weights->model->name));
  CurveLine line{.scenario = scenario,
                 .label = std::move(label),
                 .points = allocation_curve(scenario, allocations(scenario, step)),
                 .drawn = {},
                 .first = {},
                 .diminished = {},
                 .recommended = {},
                 .reason = {}};
  const auto first = std::ranges::find_if(line.points, [](const auto& p) { return runs(p); });
  if (first != line.points.end())
    line.first = static_cast<std::size_t>(first - line.points.begin());
  line.drawn = drawn(line, step ? report::Between::line : report::Between::step);
  std::vector<double> allocations, speeds;
  for (const report::CurvePoint& p : line.drawn.points) {
    allocations.push_back(p.allocation);
    speeds.push_back(p.tokens_s);
  }
  line.diminished = report::returns_diminished(allocations, speeds);
  recommend(line);
  return line;
}

report::Figure figure_of(const GivenScenario& given, const std::vector<CurveLine>& lines) {
  const Scenario& s = given.scenario;
  report::Figure figure{
      report::file_name(given.model->name) + "." + report::file_name(given.machine->name),
      fmt::format("{} on {}", given.model->name, given.machine->name),
      fmt::format("batch {}, {} + {} tokens, KV cache in {}; shaded: the 80 % interval", s.batch,
                  s.prompt_tokens, s.output_tokens, model::cache_precision(s).name()),
      static_cast<int>(given.machine->devices.size()),
      {},
      true};
  for (const CurveLine& line : lines) figure.curves.push_back(line.drawn);
  return figure;
}

}  // namespace headroom::sweep
