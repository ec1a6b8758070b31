// headroom runtimes: the engines, what they decide, and the constants with their evidence.
#include <fmt/format.h>

#include "model/estimate.hpp"
#include "model/runtime.hpp"
#include "sweep/command.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

using model::Constant;
using model::Runtime;

report::Table table_of(const std::vector<const Runtime*>& rows) {
  report::Table table{
      {"runtime", "version", "quantity", "value", "low", "high", "measurements", "source"}, {}};
  for (const Runtime* r : rows) {
    const auto add = [&](std::string_view quantity, report::Value value, report::Value low,
                         report::Value high, report::Value measurements, std::string_view source) {
      table.rows.push_back({std::string(r->name), std::string(r->version), std::string(quantity),
                            std::move(value), std::move(low), std::move(high),
                            std::move(measurements), std::string(source)});
    };
    const auto policy = [&](std::string_view quantity, report::Value value) {
      add(quantity, std::move(value), {}, {}, {}, r->source);
    };
    const auto yes_no = [&](std::string_view quantity, bool value) {
      policy(quantity, std::string(value ? "yes" : "no"));
    };
    const auto constant = [&](std::string_view quantity, const Constant& c) {
      add(quantity, c.value, c.low, c.high, std::int64_t{c.measurements}, c.source);
    };
    policy("cards share a model by",
           std::string(r->split == model::Split::layers ? "layers" : "tensors"));
    policy("offloaded weights are",
           std::string(r->offload == model::Offload::none     ? "not possible"
                       : r->offload == model::Offload::stream ? "streamed to the card"
                                                              : "computed on the CPU"));
    yes_no("runs with weights on disk", r->disk);
    yes_no("runs without any card", r->cpu);
    yes_no("sliding windows cap the cache", r->window_capped);
    yes_no("MLA keeps the latent", r->latent_cache);
    yes_no("refuses contexts beyond the positions", r->strict_positions);
    policy("tokens per cache block", r->kv_block);
    policy("share of a card used by default", r->utilization);
    constant("context_bytes", r->context_bytes);
    constant("host_bytes", r->host_bytes);
    constant("fragmentation", r->fragmentation);
    constant("decode_bandwidth", r->decode_bandwidth);
    constant("prefill_compute", r->prefill_compute);
    constant("stream_bandwidth", r->stream_bandwidth);
    constant("cpu_bandwidth", r->cpu_bandwidth);
    constant("cpu_compute", r->cpu_compute);
    constant("disk_bandwidth", r->disk_bandwidth);
    constant("layer_overhead_s", r->layer_overhead_s);
    constant("reduce_latency_s", r->reduce_latency_s);
    constant("load_bandwidth", r->load_bandwidth);
    constant("load_fixed_s", r->load_fixed_s);
    const auto factors = model::interval_factors(*r);
    add("memory interval", 1.0, factors.memory_low, factors.memory_high,
        std::int64_t{factors.memory_measurements}, factors.source);
    add("time interval", 1.0, factors.time_low, factors.time_high,
        std::int64_t{factors.time_measurements}, factors.source);
  }
  return table;
}

int run(const Options& options) {
  std::vector<const Runtime*> rows;
  for (const auto& name : options.operands()) rows.push_back(&model::runtime(name));
  if (rows.empty())
    for (const Runtime& row : model::runtimes()) rows.push_back(&row);
  emit(options, formatted(table_of(rows), format_of(options)));
  return done;
}

}  // namespace

const Command runtimes_command = {
    {.name = "runtimes",
     .summary = "the engines: what they decide, and constants with their evidence",
     .operands = "[NAME…]",
     .flags = "format out",
     .examples = "headroom runtimes\nheadroom runtimes llama.cpp --format csv",
     .columns = "runtime, version, quantity, value, low, high (80 % interval), measurements\n"
                "(0: unmeasured), source",
     .exit_codes = usual_exit_codes},
    run};

}  // namespace headroom::sweep
