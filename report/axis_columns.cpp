// Columns that are constant for an axis value: the axes themselves, and the facts that follow from
// a model, a machine or an engine. They cost nothing per row.
#include <algorithm>
#include <array>

#include "model/answer/cost.hpp"
#include "model/infer/intervals.hpp"
#include "report/column_rows.hpp"

namespace headroom::report {
namespace {

using model::Engine;

/// In facts 0 means unknown.
Cell known(Size value) { return value > 0 ? Cell(value) : Cell(); }

Cell money(std::optional<double> value) { return value ? Cell(*value) : Cell(); }
Cell an_hour(const Prices& prices, const Machine& machine, model::Acquisition way) {
  const auto cost = model::hourly_cost(prices, machine, way);
  return cost ? Cell(cost->total()) : Cell();
}

Column axis(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
            std::string_view meaning, DisplayUnit shown = DisplayUnit::plain) {
  return {name, unit, heading, meaning, ColumnKind::axis, type, shown, {}, {}};
}
Column fact(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
            Origin origin, std::string_view meaning, DisplayUnit shown = DisplayUnit::plain) {
  return {name, unit, heading, meaning, ColumnKind::fact, type, shown, origin, {}};
}
/// An interval of the engine: its low end, its high end and the measurements behind it.
template <model::Interval model::IntervalFactors::*of, bool ram_stated = false>
void add_interval_facts(std::vector<Column>& all, const std::array<std::string_view, 3>& names,
                        const std::array<std::string_view, 3>& meanings) {
  all.push_back(fact(
      names[0], "", names[0], SqlType::real,
      +[](const Engine& r) { return finite((interval_factors(r, ram_stated).*of).low); },
      meanings[0]));
  all.push_back(fact(
      names[1], "", names[1], SqlType::real,
      +[](const Engine& r) { return finite((interval_factors(r, ram_stated).*of).high); },
      meanings[1]));
  all.push_back(fact(
      names[2], "", names[2], SqlType::integer,
      +[](const Engine& r) {
        return Cell(std::int64_t{(interval_factors(r, ram_stated).*of).measurements});
      },
      meanings[2]));
}

/// Axes of requests to an engine under load.
void add_load_axes(std::vector<Column>& all) {
  using enum SqlType;
  const auto add = [&](SqlType type, std::string_view name, std::string_view unit,
                       std::string_view heading, std::string_view meaning) {
    all.push_back(axis(name, unit, heading, type, meaning));
    all.back().applies_to = AppliesTo::serving;
  };
  add(integer, "concurrency", "", "concurrent requests",
      "concurrent requests to an engine under load; the columns serving_* give their "
      "latency and throughput");
  add(integer, "prompt_tokens_p95", "tokens", "prompt, p95",
      "95th percentile of the prompt lengths, with prompt_tokens as the median; empty: "
      "equal lengths");
  add(integer, "output_tokens_p95", "tokens", "output, p95",
      "95th percentile of the output lengths; empty: equal lengths");
  add(real, "max_ttft_p95_s", "s", "first token at most, p95",
      "limit on the first token of 95 % of the requests that arrive at random; empty: none");
  add(real, "max_tpot_p95_s", "s", "per token at most, p95",
      "limit on the time per output token of 95 % of them; empty: none");
  add(real, "max_e2e_p99_s", "s", "request at most, p99",
      "limit on the whole request of 99 % of them; empty: none");
  add(real, "burstiness", "", "burstiness",
      "shape of the gamma distribution of gaps between them; empty: 1, a Poisson process");
  add(real, "load_factor", "", "load factor",
      "largest share of its capacity that the engine is given; empty: 0.8");
}

}  // namespace

void add_axis_columns(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(axis("task", "", "task", text, "inference or training"));
  all.push_back(axis("model", "", "model", text, "model, as the spec names it"));
  all.push_back(axis("precision", "", "precision", text,
                     "precision of the weights; auto: checkpoint_precision"));
  all.push_back(axis(
      "kv_precision", "", "KV precision", text,
      "precision of the KV cache, \"keys/values\" where they differ; auto of a spec is what the "
      "engine takes for the checkpoint"));
  all.push_back(
      axis("kv_cache", "", "caching", text, "on, or off: every token recomputes the whole prefix"));
  all.push_back(axis("batch", "", "batch", integer, "concurrent sequences on each replica"));
  all.push_back(
      axis("prompt_tokens", "tokens", "prompt", integer, "prompt tokens of each sequence"));
  all.push_back(
      axis("output_tokens", "tokens", "output", integer, "output tokens of each sequence"));
  add_load_axes(all);
  all.push_back(
      axis("context", "tokens", "context", integer,
           "tokens of KV cache for each sequence; empty: prompt + output, and at least the "
           "usual context, or the engine's"));
  all.push_back(axis("machine", "", "machine", text, "cards @ host"));
  all.push_back(axis("runtime", "", "runtime", text, "engine that runs the model"));
  all.push_back(axis("served_adapters", "", "adapters", text,
                     "low-rank adapters in memory, and their rank: 4x16; empty: none"));
  all.push_back(axis("speculate", "", "speculation", text,
                     "speculative decoding: the source of proposed tokens, their number in a step, "
                     "and after @ the share that is kept "
                     "(mtp:2, draft:MODEL:5@0.7); empty: none"));
  all.push_back(axis("images", "", "images", text,
                     "number and pixels of the images in every prompt; empty: none"));
  all.push_back(axis("text_only", "", "text only", text,
                     "yes: towers of images and sound are left out; empty: they are loaded"));
  all.push_back(
      axis("gpu_budget_bytes", "B", "GPU budget", integer,
           "GPU memory that the process may use on each card; empty: the engine's default",
           DisplayUnit::gib));
  all.push_back(axis("ram_budget_bytes", "B", "RAM budget", integer,
                     "host memory the process may use; empty: all of it", DisplayUnit::gib));
  all.push_back(axis("disk_budget_bytes", "B", "disk budget", integer,
                     "disk space for weights; empty: all of it", DisplayUnit::gib));
  all.push_back(axis("tensor_parallel", "", "TP", integer,
                     "cards that share each matrix; empty: as the engine splits"));
  all.push_back(axis("pipeline_parallel", "", "PP", integer,
                     "stages of layers; empty: as the engine splits"));
  all.push_back(axis("expert_parallel", "", "EP", integer,
                     "cards that whole experts are spread over; empty: split like other matrices"));
  all.push_back(axis("data_parallel", "", "DP", integer, "replicas of the model; empty: one"));
}

namespace {

void add_model_facts(std::vector<Column>& all) {
  using enum SqlType;
  using model::Model;
  all.push_back(fact(
      "architecture", "", "architecture", text,
      +[](const Model& m) { return Cell(std::string_view(m.architecture)); },
      "class that the model's config names"));
  all.push_back(fact(
      "checkpoint_precision", "", "checkpoint", text,
      +[](const Model& m) { return Cell(std::string_view(m.checkpoint_scheme)); },
      "precision of the published weights, used by auto"));
  all.push_back(fact("as_published", "", "as published", integer, {},
                     "1: the weights are the checkpoint's, in the form that the engine loads; 0: "
                     "another precision was asked for"));
  all.push_back(fact(
      "parameters", "", "parameters", integer,
      +[](const Model& m) { return known(m.profile.parameters); },
      "parameters of the model, tied ones once", DisplayUnit::billions));
  all.push_back(fact(
      "active_parameters", "", "active", integer,
      +[](const Model& m) { return known(m.profile.parameters_active); },
      "parameters that one token uses; vision and audio towers count in full",
      DisplayUnit::billions));
  all.push_back(fact(
      "positions", "tokens", "positions", integer,
      +[](const Model& m) { return known(m.shape.positions); },
      "longest context of the model; empty: no limit is stated"));
}

void add_machine_facts(std::vector<Column>& all) {
  using enum SqlType;
  all.push_back(fact(
      "gpus", "", "GPUs", integer,
      +[](const Machine& m) { return Cell(static_cast<std::int64_t>(m.devices.size())); },
      "cards in the machine"));
  all.push_back(fact(
      "gpu_memory_bytes", "B", "memory of a GPU", integer,
      +[](const Machine& m) {
        Size least = 0;
        for (const Device& d : m.devices)
          least = least == 0 ? d.memory.count() : std::min(least, d.memory.count());
        return known(least);
      },
      "memory of the smallest card", DisplayUnit::gib));
  all.push_back(fact(
      "ram_bytes", "B", "RAM", integer, +[](const Machine& m) { return known(m.host.ram.count()); },
      "memory of the host", DisplayUnit::gib));
  all.push_back(fact(
      "ram_stated", "", "RAM stated", integer,
      +[](const Machine& m) { return Cell(std::int64_t{!m.ram_assumed}); },
      "1: the speed of the host's memory is stated; 0: it is assumed"));
  all.push_back(fact("gpu_budget_relative", "", "budget of the GPU", text, {},
                     "gpu_budget_bytes by the memory of the largest card: max (all of it), 50%, "
                     "max-2GiB; empty: a size"));
  all.push_back(fact(
      "cards_list_price_usd", "USD", "list price of the cards", real,
      +[](const Machine& m) {
        double all_cards = 0;
        for (const Device& d : m.devices) {
          if (!d.list_price_usd) return Cell();
          all_cards += *d.list_price_usd;
        }
        return m.devices.empty() ? Cell() : Cell(all_cards);
      },
      "launch list price of all cards, without the host; empty: none is known"));
}

void add_price_facts(std::vector<Column>& all) {
  using enum SqlType;
  using model::Acquisition;
  all.push_back(fact(
      "currency", "", "currency", text,
      +[](const Prices& p, const Machine&) { return Cell(std::string_view(p.currency)); },
      "currency of your prices; empty: the run had no prices"));
  all.push_back(fact(
      "purchase_price", "currency", "purchase", real,
      +[](const Prices& p, const Machine& m) { return money(purchase_price(p, m)); },
      "cards and host, bought new at your prices; empty: a price is missing"));
  all.push_back(fact(
      "owned_per_hour", "currency/h", "owned, an hour", real,
      +[](const Prices& p, const Machine& m) { return an_hour(p, m, Acquisition::buy); },
      "an hour of the machine bought new: the purchase over its years, and energy"));
  all.push_back(fact(
      "used_per_hour", "currency/h", "second-hand, an hour", real,
      +[](const Prices& p, const Machine& m) { return an_hour(p, m, Acquisition::used); },
      "an hour of the machine bought second-hand"));
  all.push_back(fact(
      "rent_per_hour", "currency/h", "rent, an hour", real,
      +[](const Prices& p, const Machine& m) { return an_hour(p, m, Acquisition::rent); },
      "an hour of rent at your prices, energy included"));
  all.push_back(fact(
      "utilisation", "", "at work", real,
      +[](const Prices& p, const Machine&) { return Cell(model::utilisation_of(p)); },
      "share of the time that the machine works, as your prices say", DisplayUnit::percent));
  all.push_back(fact(
      "price_assumptions", "", "assumptions of prices", text,
      +[](const Prices& p, const Machine&) { return Cell(std::string_view(p.assumptions)); },
      "assumptions of your prices, and their source"));
}

void add_engine_facts(std::vector<Column>& all) {
  using enum SqlType;
  constexpr std::string_view rows_behind =
      "measured rows behind that interval; 0: estimate without measurements";
  all.push_back(fact(
      "runtime_version", "", "version", text, +[](const Engine& r) { return Cell(r.version); },
      "version of the engine that the constants describe"));
  all.push_back(fact(
      "admits_requests", "", "admits requests", integer,
      +[](const Engine& r) { return Cell(std::int64_t{r.serving.continuous_batching}); },
      "1: the engine admits requests as they come; 0: it serves one batch at a time"));
  using Factors = model::IntervalFactors;
  add_interval_facts<&Factors::memory>(
      all, {"memory_low", "memory_high", "memory_measurements"},
      {"low end of GPU memory, as a factor on its uncertain part", "high end of that interval",
       "measured rows behind the interval of memory; 0: estimate without measurements"});
  add_interval_facts<&Factors::load>(
      all, {"load_low", "load_high", "load_measurements"},
      {"low end of the time to load as a share of the expected value", "high end of that interval",
       "measured rows behind the interval of loading; 0: estimate without measurements"});
  add_interval_facts<&Factors::ttft>(
      all, {"ttft_low", "ttft_high", "ttft_measurements"},
      {"low end of the time to first token, all weights on cards, as a share of the expected value",
       "high end of that interval", rows_behind});
  add_interval_facts<&Factors::tpot>(
      all, {"tpot_low", "tpot_high", "tpot_measurements"},
      {"low end of the time per output token, all weights on cards, as a share of the expected "
       "value; training: time of a step",
       "high end of that interval", rows_behind});
  add_interval_facts<&Factors::offload>(
      all, {"offload_low", "offload_high", "offload_measurements"},
      {"low end of both times with weights outside the cards, as a share of the expected value",
       "high end of that interval", rows_behind});
  add_interval_facts<&Factors::offload, true>(
      all, {"ram_stated_low", "ram_stated_high", "ram_stated_measurements"},
      {"that low end where ram_stated is 1", "high end of that interval", rows_behind});
  add_interval_facts<&Factors::serving_ttft>(
      all, {"serving_ttft_low", "serving_ttft_high", "serving_ttft_measurements"},
      {"low end of the time to first token under load as a share of the expected value",
       "high end of that interval", rows_behind});
  add_interval_facts<&Factors::serving_tpot>(
      all, {"serving_tpot_low", "serving_tpot_high", "serving_tpot_measurements"},
      {"low end of the time per output token under load as a share of the expected value",
       "high end of that interval", rows_behind});
  add_interval_facts<&Factors::serving_rate>(
      all, {"serving_rate_low", "serving_rate_high", "serving_rate_measurements"},
      {"low end of the time that a number of requests takes under load as a share of the expected "
       "value",
       "high end of that interval", rows_behind});
  all.push_back(fact(
      "interval_source", "", "source of the interval", text,
      +[](const Engine& r) { return Cell(interval_factors(r).source); },
      "source of the interval factors"));
}

}  // namespace

void add_fact_columns(std::vector<Column>& all) {
  add_model_facts(all);
  add_machine_facts(all);
  add_price_facts(all);
  add_engine_facts(all);
}

}  // namespace headroom::report
