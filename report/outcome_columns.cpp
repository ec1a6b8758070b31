// Columns that are the outcome of a point, each with its getter and its expression over what is
// stored.
#include <fmt/format.h>

#include <limits>
#include <string>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/column_rows.hpp"
#include "report/interval_terms.hpp"
#include "report/packed_field.hpp"

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

/// "CASE field WHEN 0 THEN 'a' WHEN 1 THEN 'b' END" over the enumerators that have names.
template <class Enum>
std::string decode(const PackedField& field) {
  std::string sql = "CASE " + field.sql();
  for (int i = 0; i <= field.most(); ++i)
    if (const auto name = name_of(static_cast<Enum>(i)); !name.empty())
      sql += fmt::format(" WHEN {} THEN '{}'", i, name);
  return sql + " END";
}

double share(Size part, const Estimate& e) {
  const Size all = e.layers_gpu + e.layers_cpu + e.layers_disk;
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all)
                 : std::numeric_limits<double>::quiet_NaN();
}

std::string share_sql(const PackedField& part) {
  return fmt::format("({}) * 1.0 / nullif(({}) + ({}) + ({}), 0)", part.sql(),
                     packed::layers_gpu.sql(), packed::layers_cpu.sql(), packed::layers_disk.sql());
}

/// The stored sum is of all devices. The cards' part is known only if all layers are on cards.
Cell weights_per_gpu(const Estimate& e) {
  const bool all_on_cards = e.layers_gpu > 0 && e.layers_cpu == 0 && e.layers_disk == 0;
  if (e.task == model::Task::training || !all_on_cards || e.gpus_used == 0) return {};
  return e.weights.count() / e.gpus_used;
}

std::string weights_per_gpu_sql() {
  return fmt::format(
      "CASE WHEN {} OR ({}) = 0 OR ({}) > 0 OR ({}) > 0 THEN NULL ELSE weights_bytes / nullif({}, "
      "0) END",
      packed::training.sql(), packed::layers_gpu.sql(), packed::layers_cpu.sql(),
      packed::layers_disk.sql(), packed::gpus_used.sql());
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

constexpr StoredValue stored_gpu_bytes{
    "gpu_bytes", "", [](const Estimate& e) { return e.gpu_bytes.real().value(); }};
constexpr StoredValue stored_uncertain{
    "gpu_uncertain_bytes", "", [](const Estimate& e) { return e.gpu_uncertain.real().value(); }};
constexpr StoredValue stored_load{"load_s", "", [](const Estimate& e) { return e.load.value(); }};
constexpr StoredValue stored_ttft{"ttft_s", "", [](const Estimate& e) { return e.ttft.value(); }};
constexpr StoredValue stored_tpot{"tpot_s", "", [](const Estimate& e) { return e.tpot.value(); }};
constexpr StoredValue stored_total{"total_s", "",
                                   [](const Estimate& e) { return e.total.value(); }};

/// The number of measured rows behind the interval that was added last.
template <class Rule>
void add_measurements(std::vector<Column>& all, std::string_view name, Rule rule) {
  Column like = all.back();
  like.unit = "";
  like.type = SqlType::integer;
  like.shown = DisplayUnit::plain;
  all.push_back(derived_column<model::IntervalPart::measurements>(
      like, name, "measured rows behind that interval; 0: estimate without measurements", rule));
}

}  // namespace

namespace {

/// The verdict and the places of layers.
void add_verdict_columns(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(outcome_column(
      "verdict", "", "verdict", text, +[](const Estimate& e) { return named(e.verdict); },
      decode<model::Verdict>(packed::verdict), "whether and how it fits"));
  all.push_back(outcome_column(
      "sure", "", "sure", text, +[](const Estimate& e) { return named(e.sure); },
      decode<model::Confidence>(packed::sure),
      "confidence of the verdict: yes, no, or marginal (the interval reaches over the limit, or "
      "the engine's memory is not measured)"));
  all.push_back(outcome_column(
      "reason", "", "reason", text, +[](const Estimate& e) { return named(e.reason); },
      decode<model::Reason>(packed::reason),
      "why the verdict is not better; empty: nothing is short"));
  all.push_back(outcome_column(
      "gpus_used", "", "GPUs used", integer,
      +[](const Estimate& e) { return Cell(std::int64_t{e.gpus_used}); }, packed::gpus_used.sql(),
      "cards that hold layers"));
  all.push_back(outcome_column(
      "waiting", "", "waiting", integer, +[](const Estimate& e) { return Cell(e.queued); },
      std::string("waiting"),
      "sequences of each replica's batch that wait for room in the KV cache; bytes and times are "
      "those of the sequences that run"));
  all.push_back(outcome_column(
      "layers_gpu", "", "layers on GPU", integer,
      +[](const Estimate& e) { return Cell(e.layers_gpu); }, packed::layers_gpu.sql(),
      "layers on cards, those of encoders included, those of image and audio towers not"));
  all.push_back(outcome_column(
      "layers_cpu", "", "layers on CPU", integer,
      +[](const Estimate& e) { return Cell(e.layers_cpu); }, packed::layers_cpu.sql(),
      "layers in host memory, counted likewise"));
  all.push_back(outcome_column(
      "layers_disk", "", "layers on disk", integer,
      +[](const Estimate& e) { return Cell(e.layers_disk); }, packed::layers_disk.sql(),
      "layers on disk, counted likewise"));
  all.push_back(outcome_column(
      "cpu_share", "", "on CPU", real,
      +[](const Estimate& e) { return finite(share(e.layers_cpu, e)); },
      share_sql(packed::layers_cpu), "share of the layers in host memory", DisplayUnit::percent));
  all.push_back(outcome_column(
      "disk_share", "", "on disk", real,
      +[](const Estimate& e) { return finite(share(e.layers_disk, e)); },
      share_sql(packed::layers_disk), "share of the layers on disk", DisplayUnit::percent));
}

}  // namespace

void add_memory_columns(std::vector<Column>& all) {
  using enum SqlType;
  add_verdict_columns(all);
  all.push_back(stored_bytes(
      "weights_bytes", "weights", +[](const Estimate& e) { return bytes(e.weights); },
      "weights and buffers of all devices, each tensor once; training: on the fullest card"));
  all.push_back(outcome_column(
      "weights_per_gpu_bytes", "B", "weights/GPU", integer,
      +[](const Estimate& e) { return weights_per_gpu(e); }, weights_per_gpu_sql(),
      "weights and buffers of one card, on average over the cards that hold layers; empty where "
      "some are in host memory or on disk, and for training",
      DisplayUnit::gib));
  all.push_back(stored_bytes(
      "kv_cache_bytes", "KV cache", +[](const Estimate& e) { return bytes(e.kv_cache); },
      "KV cache and recurrent state, on all devices together"));
  all.push_back(stored_bytes(
      "activations_bytes", "activations", +[](const Estimate& e) { return bytes(e.activations); },
      "activations and workspace, on all devices together; training: kept between forward and "
      "backward by the fullest card"));
  all.push_back(stored_bytes(
      "overhead_bytes", "overhead", +[](const Estimate& e) { return bytes(e.overhead); },
      "driver contexts, libraries and fragmentation, on all devices together; training: on the "
      "fullest card"));
  all.push_back(outcome_column(
      "total_bytes", "B", "total", integer,
      +[](const Estimate& e) {
        return e.task == model::Task::training
                   ? Cell()
                   : bytes(e.weights + e.kv_cache + e.activations + e.overhead);
      },
      fmt::format("CASE WHEN {} THEN NULL ELSE weights_bytes + kv_cache_bytes + "
                  "activations_bytes + overhead_bytes END",
                  packed::training.sql()),
      "sum of the four above, so each tensor once; empty for training: its peaks differ in time",
      DisplayUnit::gib));
  all.push_back(stored_bytes(
      "gpu_bytes", "GPU memory", +[](const Estimate& e) { return bytes(e.gpu_bytes); },
      "use of the most loaded card, as nvidia-smi would show it"));
  add_interval(all, "gpu_bytes_low", "gpu_bytes_high", [](const auto& of, auto end) {
    return of.whole(of.stored(stored_gpu_bytes) +
                    (of.factor(model::Factor::memory, end) - of.one()) *
                        of.stored(stored_uncertain));
  });
  all.push_back(stored_bytes(
      "gpu_uncertain_bytes", "uncertain", +[](const Estimate& e) { return bytes(e.gpu_uncertain); },
      "part of gpu_bytes that its interval is a factor on: work of a pass, contexts, and 1 % of "
      "the total; training: all but weights, master copies and states"));
  all.push_back(stored_bytes(
      "max_memory_bytes", "max_memory", +[](const Estimate& e) { return bytes(e.max_memory); },
      "part of the first card's budget for weights: accelerate's max_memory"));
  all.push_back(stored_bytes(
      "cpu_bytes", "RAM", +[](const Estimate& e) { return bytes(e.cpu_bytes); },
      "use of host memory"));
  all.push_back(stored_bytes(
      "disk_bytes", "disk", +[](const Estimate& e) { return bytes(e.disk_bytes); },
      "weights on disk"));
  all.push_back(stored_bytes(
      "short_bytes", "short by", +[](const Estimate& e) { return bytes(e.short_bytes); },
      "memory that is missing where it does not fit; reason says where"));
}

void add_time_columns(std::vector<Column>& all) {
  using enum SqlType;
  using enum DisplayUnit;
  all.push_back(stored_time(
      "load_s", "load", +[](const Estimate& e) { return finite(e.load.value()); }, seconds,
      "time to load from disk until ready to answer; empty where it does not fit"));
  add_interval(all, "load_s_low", "load_s_high", [](const auto& of, auto end) {
    return of.stored(stored_load) * of.factor(model::Factor::load, end);
  });
  all.push_back(stored_time(
      "load_warm_s", "load, warm", +[](const Estimate& e) { return finite(e.load_warm.value()); },
      seconds, "time to load when the page cache holds the files"));
  all.push_back(stored_time(
      "ttft_s", "first token", +[](const Estimate& e) { return finite(e.ttft.value()); },
      milliseconds, "time to first token"));
  add_interval(all, "ttft_s_low", "ttft_s_high", [](const auto& of, auto end) {
    return of.stored(stored_ttft) * rules(of, end).first();
  });
  add_measurements(all, "ttft_s_measurements", [](const auto& of, auto part) {
    return of.whole(of.where_known(stored_ttft, rules(of, part).first()));
  });
  all.push_back(stored_time(
      "tpot_s", "per token", +[](const Estimate& e) { return finite(e.tpot.value()); },
      milliseconds, "time per output token after the first, each sequence"));
  add_interval(all, "tpot_s_low", "tpot_s_high", [](const auto& of, auto end) {
    return of.stored(stored_tpot) * rules(of, end).step();
  });
  add_measurements(all, "tpot_s_measurements", [](const auto& of, auto part) {
    return of.whole(of.where_known(stored_tpot, rules(of, part).step()));
  });
  all.push_back(outcome_column(
      "tokens_s", "tokens/s", "tokens/s", real,
      +[](const Estimate& e) { return finite(e.tokens_s); }, "tokens_s",
      "output tokens per second of all sequences together, after the first token; training: tokens "
      "trained on by all cards"));
  all.push_back(stored_time(
      "total_s", "total time", +[](const Estimate& e) { return finite(e.total.value()); }, seconds,
      "time of the first token and all output tokens"));
  add_interval(all, "total_s_low", "total_s_high", [](const auto& of, auto end) {
    return model::total_time(rules(of, end).first(), rules(of, end).step(), of.stored(stored_ttft),
                             of.stored(stored_total));
  });
  all.push_back(outcome_column(
      "first_total_s", "s", "first answer", real,
      +[](const Estimate& e) { return finite((e.total + e.warming).value()); },
      "total_s + warming_s",
      "time of the first answer after loading: total_s, and reading from disk the weights in host "
      "memory that were only mapped",
      seconds));
}

}  // namespace headroom::report
