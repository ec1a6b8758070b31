// Columns that are the outcome of a point, each with its getter and its expression over what is
// stored.
#include <fmt/format.h>

#include <limits>
#include <string>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/column_rows.hpp"

namespace headroom::report {
namespace {

using model::Estimate;

Cell bytes(Bytes value) { return value.count(); }
/// The name of an enumerator; none where it has no name.
template <class Enum>
Cell named(Enum value) {
  const std::string_view name = name_of(value);
  return name.empty() ? Cell() : Cell(name);
}

/// "CASE field WHEN 0 THEN 'a' WHEN 1 THEN 'b' END" over the enumerators below `count` that have
/// names.
template <class Enum>
std::string decode(std::string_view field, int count) {
  std::string sql = fmt::format("CASE {}", field);
  for (int i = 0; i < count; ++i)
    if (const auto name = name_of(static_cast<Enum>(i)); !name.empty())
      sql += fmt::format(" WHEN {} THEN '{}'", i, name);
  return sql + " END";
}

double share(Size part, const Estimate& e) {
  const Size all = e.layers_gpu + e.layers_cpu + e.layers_disk;
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all)
                 : std::numeric_limits<double>::quiet_NaN();
}

Column outcome_column(std::string_view name, std::string_view unit, std::string_view heading,
                      SqlType type, OfEstimate origin, std::string sql, std::string_view meaning,
                      DisplayUnit shown = DisplayUnit::plain) {
  return {name, unit, heading, meaning, ColumnKind::outcome, type, shown, origin, std::move(sql)};
}
Column stored_bytes(std::string_view name, std::string_view heading, OfEstimate origin,
                    std::string_view meaning) {
  return outcome_column(name, "B", heading, SqlType::integer, origin, std::string(name), meaning,
                        DisplayUnit::gib);
}
Column stored_time(std::string_view name, std::string_view heading, OfEstimate origin,
                   DisplayUnit shown, std::string_view meaning) {
  return outcome_column(name, "s", heading, SqlType::real, origin, std::string(name), meaning,
                        shown);
}
using model::Interval;
using model::IntervalFactors;
using IntervalEnd = double Interval::*;

/// The low and high end of the column added last: `at(estimate, factors, end)` is its value there.
/// `sql(end)`: the same; the name of a fact in brackets stands for its value.
template <auto at, class F>
void add_interval(std::vector<Column>& all, std::string_view low, std::string_view high, F&& sql) {
  const Column of = all.back();
  const auto add = [&](std::string_view name, OfFactors get, std::string_view end,
                       std::string_view meaning) {
    all.push_back(
        {name, of.unit, name, meaning, ColumnKind::derived, of.type, of.shown, get, sql(end)});
  };
  add(
      low, +[](const Estimate& e, const IntervalFactors& f) { return at(e, f, &Interval::low); },
      "low", "low end of the interval around the column before");
  add(
      high, +[](const Estimate& e, const IntervalFactors& f) { return at(e, f, &Interval::high); },
      "high", "high end of the same interval");
}

/// What the interval of weights outside the cards has at `end`, by what is known of the host.
std::string offloaded(std::string_view end) {
  return fmt::format("CASE WHEN [ram_stated] THEN [ram_stated_{0}] ELSE [offload_{0}] END", end);
}

/// How many measured rows the interval rests on whose ends were added last. `time` is what it is
/// of, `of` the interval; `unmeasured` and `fact` the same in SQL, of weights on cards alone.
template <auto time, auto of>
void add_measurements(std::vector<Column>& all, std::string_view name, std::string_view unmeasured,
                      std::string_view fact) {
  const std::string_view stored = all[all.size() - 3].name;
  const auto get = +[](const Estimate& e, const IntervalFactors& f) {
    return std::isfinite((e.*time).value()) ? Cell(std::int64_t{(f.times(e).*of).measurements})
                                            : Cell();
  };
  all.push_back(
      {name, "", name, "measured rows that the same interval rests on; 0: it is a stated guess",
       ColumnKind::derived, SqlType::integer, DisplayUnit::plain, get,
       fmt::format("CASE WHEN {} IS NULL THEN NULL WHEN status & 7 > {} THEN {} WHEN {} THEN 0 "
                   "ELSE [{}] END",
                   stored, static_cast<int>(model::Verdict::fits_gpus), offloaded("measurements"),
                   unmeasured, fact)});
}

/// `least` is where the share begins in `status` that a low end is not below.
std::string time_factor(const std::string& on_cards, std::string_view end, int least) {
  const std::string factor =
      fmt::format("CASE WHEN status & 7 <= {} THEN {} ELSE {} END",
                  static_cast<int>(model::Verdict::fits_gpus), on_cards, offloaded(end));
  if (end != "low") return factor;
  return fmt::format("max({}, (status >> {} & 127) / {:.1f})", factor, least, model::most_least);
}

}  // namespace

std::string wider_factor(std::string_view fact, std::string_view unmeasured, const Interval& guess,
                         std::string_view end) {
  const bool low = end == "low";
  return fmt::format("CASE WHEN {} THEN {}([{}_{}], {}) ELSE [{}_{}] END", unmeasured,
                     low ? "min" : "max", fact, end, low ? guess.low : guess.high, fact, end);
}

std::string first_factor(std::string_view end) {
  return time_factor(wider_factor("ttft", first_unmeasured, model::unmeasured_first, end), end, 29);
}
std::string step_factor(std::string_view end) {
  return time_factor(wider_factor("tpot", step_unmeasured, model::unmeasured_step, end), end, 36);
}

void add_memory_columns(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(outcome_column(
      "verdict", "", "verdict", text, +[](const Estimate& e) { return named(e.verdict); },
      decode<model::Verdict>("status & 7", 8), "whether and how it fits"));
  all.push_back(outcome_column(
      "sure", "", "sure", text, +[](const Estimate& e) { return named(e.sure); },
      decode<model::Confidence>("status >> 3 & 3", 4),
      "yes, marginal or no, decided on the interval"));
  all.push_back(outcome_column(
      "reason", "", "reason", text, +[](const Estimate& e) { return named(e.reason); },
      decode<model::Reason>("status >> 5 & 31", 32),
      "why the verdict is not better; empty: nothing is short"));
  all.push_back(outcome_column(
      "gpus_used", "", "GPUs used", integer,
      +[](const Estimate& e) { return Cell(std::int64_t{e.gpus_used}); }, "status >> 10 & 65535",
      "cards that hold layers"));
  all.push_back(outcome_column(
      "waiting", "", "waiting", integer, +[](const Estimate& e) { return Cell(e.queued); },
      "status >> 43",
      "sequences of each replica's batch that wait for room in the engine's pool of cache; bytes "
      "and times are of those that run"));
  all.push_back(outcome_column(
      "layers_gpu", "", "layers on GPU", integer,
      +[](const Estimate& e) { return Cell(e.layers_gpu); }, "layers & 1048575",
      "layers on cards"));
  all.push_back(outcome_column(
      "layers_cpu", "", "layers on CPU", integer,
      +[](const Estimate& e) { return Cell(e.layers_cpu); }, "layers >> 20 & 1048575",
      "layers in host memory"));
  all.push_back(outcome_column(
      "layers_disk", "", "layers on disk", integer,
      +[](const Estimate& e) { return Cell(e.layers_disk); }, "layers >> 40",
      "layers left on disk"));
  const std::string layers = "((layers & 1048575) + (layers >> 20 & 1048575) + (layers >> 40))";
  all.push_back(outcome_column(
      "cpu_share", "", "on CPU", real,
      +[](const Estimate& e) { return finite(share(e.layers_cpu, e)); },
      "(layers >> 20 & 1048575) * 1.0 / nullif(" + layers + ", 0)",
      "share of the layers that is in host memory", DisplayUnit::percent));
  all.push_back(outcome_column(
      "disk_share", "", "on disk", real,
      +[](const Estimate& e) { return finite(share(e.layers_disk, e)); },
      "(layers >> 40) * 1.0 / nullif(" + layers + ", 0)",
      "share of the layers that is left on disk", DisplayUnit::percent));
  all.push_back(stored_bytes(
      "weights_bytes", "weights", +[](const Estimate& e) { return bytes(e.weights); },
      "weights and buffers, on all devices together; training: of the fullest card"));
  all.push_back(stored_bytes(
      "kv_cache_bytes", "KV cache", +[](const Estimate& e) { return bytes(e.kv_cache); },
      "KV cache and recurrent state, on all devices together"));
  all.push_back(stored_bytes(
      "activations_bytes", "activations", +[](const Estimate& e) { return bytes(e.activations); },
      "activations and workspace, on all devices together; training: kept between forward and "
      "backward by the fullest card"));
  all.push_back(stored_bytes(
      "overhead_bytes", "overhead", +[](const Estimate& e) { return bytes(e.overhead); },
      "driver contexts, libraries and fragmentation, on all devices together; training: of the "
      "fullest card"));
  all.push_back(outcome_column(
      "total_bytes", "B", "total", integer,
      +[](const Estimate& e) {
        return e.task == model::Task::training
                   ? Cell()
                   : bytes(e.weights + e.kv_cache + e.activations + e.overhead);
      },
      "CASE WHEN status >> 26 & 1 THEN NULL ELSE weights_bytes + kv_cache_bytes + "
      "activations_bytes + overhead_bytes END",
      "sum of the four above; empty for training, whose terms are not alive together",
      DisplayUnit::gib));
  all.push_back(stored_bytes(
      "gpu_bytes", "GPU memory", +[](const Estimate& e) { return bytes(e.gpu_bytes); },
      "use of the most loaded card, as nvidia-smi would show it"));
  add_interval<[](const Estimate& e, const IntervalFactors& f, IntervalEnd end) {
    return Cell(static_cast<std::int64_t>(e.gpu_bytes.real().value() * f.memory.*end));
  }>(all, "gpu_bytes_low", "gpu_bytes_high", [](std::string_view end) {
    return fmt::format("CAST(gpu_bytes * [memory_{}] AS INTEGER)", end);
  });
  all.push_back(stored_bytes(
      "max_memory_bytes", "max_memory", +[](const Estimate& e) { return bytes(e.max_memory); },
      "the weights' share of the budget on the first card: accelerate's max_memory"));
  all.push_back(stored_bytes(
      "cpu_bytes", "RAM", +[](const Estimate& e) { return bytes(e.cpu_bytes); },
      "held in host memory"));
  all.push_back(stored_bytes(
      "disk_bytes", "disk", +[](const Estimate& e) { return bytes(e.disk_bytes); },
      "left on disk"));
  all.push_back(stored_bytes(
      "short_bytes", "short by", +[](const Estimate& e) { return bytes(e.short_bytes); },
      "what is missing where it does not fit; reason says where"));
}

void add_time_columns(std::vector<Column>& all) {
  using enum SqlType;
  using enum DisplayUnit;
  all.push_back(stored_time(
      "load_s", "load", +[](const Estimate& e) { return finite(e.load.value()); }, seconds,
      "from the disk until ready to answer; empty where it does not fit"));
  add_interval<[](const Estimate& e, const IntervalFactors& f, IntervalEnd end) {
    return finite(e.load.value() * f.load.*end);
  }>(all, "load_s_low", "load_s_high",
     [](std::string_view end) { return fmt::format("load_s * [load_{}]", end); });
  all.push_back(stored_time(
      "load_warm_s", "load, warm", +[](const Estimate& e) { return finite(e.load_warm.value()); },
      seconds, "the same where the page cache holds the files"));
  all.push_back(stored_time(
      "ttft_s", "first token", +[](const Estimate& e) { return finite(e.ttft.value()); },
      milliseconds, "time to first token"));
  add_interval<[](const Estimate& e, const IntervalFactors& f, IntervalEnd end) {
    return finite(e.ttft.value() * f.times(e).ttft.*end);
  }>(all, "ttft_s_low", "ttft_s_high",
     [](std::string_view end) { return "ttft_s * " + first_factor(end); });
  add_measurements<&Estimate::ttft, &model::TimeIntervals::ttft>(
      all, "ttft_s_measurements", first_unmeasured, "ttft_measurements");
  all.push_back(stored_time(
      "tpot_s", "per token", +[](const Estimate& e) { return finite(e.tpot.value()); },
      milliseconds, "time per output token after the first, each sequence"));
  add_interval<[](const Estimate& e, const IntervalFactors& f, IntervalEnd end) {
    return finite(e.tpot.value() * f.times(e).tpot.*end);
  }>(all, "tpot_s_low", "tpot_s_high",
     [](std::string_view end) { return "tpot_s * " + step_factor(end); });
  add_measurements<&Estimate::tpot, &model::TimeIntervals::tpot>(
      all, "tpot_s_measurements", step_unmeasured, "tpot_measurements");
  all.push_back(outcome_column(
      "tokens_s", "tokens/s", "tokens/s", real,
      +[](const Estimate& e) { return finite(e.tokens_s); }, "tokens_s",
      "output tokens per second of all sequences together, after the first token; training: tokens "
      "trained on by all cards"));
  all.push_back(stored_time(
      "total_s", "total time", +[](const Estimate& e) { return finite(e.total.value()); }, seconds,
      "first token and all output tokens"));
  add_interval<[](const Estimate& e, const IntervalFactors& f, IntervalEnd end) {
    const model::TimeIntervals times = f.times(e);
    return finite(total_at(e, times.ttft.*end, times.tpot.*end).value());
  }>(all, "total_s_low", "total_s_high", [](std::string_view end) {
    return first_factor(end) + " * ttft_s + " + step_factor(end) + " * (total_s - ttft_s)";
  });
  all.push_back(outcome_column(
      "first_total_s", "s", "first answer", real,
      +[](const Estimate& e) { return finite((e.total + e.warming).value()); },
      "total_s + warming_s",
      "the first answer after loading: total_s, and weights in host memory that were only mapped "
      "are read from the disk",
      seconds));
}

}  // namespace headroom::report
