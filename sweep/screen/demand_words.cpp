#include "sweep/screen/demand_words.hpp"

#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/serving.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/interval_words.hpp"

namespace headroom::sweep {

std::string arrivals_words(const model::Target& target) {
  if (!target.at_random()) return {};
  const std::string busy =
      fmt::format("a copy is at most {:.0f} % busy (--load-factor)", 100 * target.load_factor);
  if (target.think > 0)
    return fmt::format("each user pauses for {} after each answer (--think-time); {}",
                       duration(target.think), busy);
  return fmt::format("requests arrive at random, {} (--burstiness); {}",
                     target.burstiness == 1
                         ? std::string("as a Poisson process")
                         : fmt::format("with burstiness {:g}", target.burstiness),
                     busy);
}

model::MeasuredTimes measured_of(const RunningWay& way) {
  if (way.machine.devices.empty()) return {};
  return model::measured_times(way.engine, way.machine.devices.front(), way.weights);
}

std::string measured_words(const RunningWay& way) {
  const model::MeasuredTimes measured = measured_of(way);
  return measured.here > 0  ? counted(measured.here, "row")
         : measured.all > 0 ? std::string("other cards")
                            : std::string("no");
}

std::string measured_line(const RunningWay& way) {
  const model::MeasuredTimes measured = measured_of(way);
  const std::string_view card =
      way.machine.devices.empty() ? "the CPU" : std::string_view(way.machine.devices.front().name);
  const auto rows = [](int count, int sources) {
    return counted(count, "row") + " of " + counted(sources, "source");
  };
  if (measured.here > 0)
    return fmt::format("times of such weights under {} on {}: {}", way.engine.family, card,
                       rows(measured.here, measured.here_sources));
  if (measured.all > 0)
    return fmt::format("no time of such weights under {} on {}; {} on other cards",
                       way.engine.family, card, rows(measured.all, measured.all_sources));
  return fmt::format("no time of such weights under {} on any card", way.engine.family);
}

std::string narrower_cache_words(const Candidate& c) {
  using enum model::Miss;
  const model::Miss limit = c.serving.next.miss;
  if (limit != memory && limit != offload && limit != not_sure) return {};
  const double now = model::cache_precision(c.scenario).element_bytes();
  const Precision* widest = nullptr;
  for (const model::CacheFormat& format : c.engine->cache.formats)
    if (const Precision& each = precision(format.precision);
        each.element_bytes() < now && (!widest || each.element_bytes() > widest->element_bytes()))
      widest = &each;
  if (!widest) return {};
  model::Scenario s = c.scenario;
  s.kv_precision = widest;
  const Size longest = model::longest_context(s);
  if (longest <= c.serving.context) return {};
  return fmt::format("a KV cache in {} (--kv-precision) holds {} tokens", widest->name,
                     grouped(longest));
}

std::string spares_words(const Candidate& c) {
  if (c.spares > 0)
    return fmt::format("{}, {} to spare: the figures hold without", counted(c.machines, "machine"),
                       c.spares);
  return fmt::format("{}, {} with one to spare (--spares 1)", counted(c.machines, "machine"),
                     c.machines + 1);
}

std::string missing_words(const Prices& prices, const Machine& machine,
                          std::span<const model::Acquisition> ways) {
  std::optional<std::vector<model::MissingCost>> least;
  for (const model::Acquisition way : ways)
    if (auto missing = model::missing_costs(prices, machine, way);
        !least || missing.size() < least->size())
      least = std::move(missing);
  if (!least || least->empty()) return {};
  std::string line = machine.name + ": ";
  for (const model::MissingCost& each : *least)
    line += (&each == least->data() ? "" : ", ") + to_text(each);
  return line;
}

std::string slowest_words(const Candidate& c, const model::Target& target) {
  if (!c.demand.slowest) return {};
  const model::InFlight& now = *c.demand.slowest;
  const model::Service& seen = c.demand.requests > 0 ? c.demand.service : c.serving.service;
  const auto time = [&](Seconds value, const model::Interval& of) {
    return target.strict ? duration(value.value()) : time_with_interval(value, of);
  };
  std::string text =
      fmt::format("first token at p95 {}, each further token at p95 {}, whole request at p99 {}",
                  time(now.ttft_p95, seen.first), time(now.tpot_p95, seen.step),
                  time(now.total_p99, seen.time));
  if (now.load < 1) text += fmt::format("; each copy {:.0f} % busy", 100 * now.load);
  return text;
}

}  // namespace headroom::sweep
