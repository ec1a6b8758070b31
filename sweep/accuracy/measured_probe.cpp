// The CSV of examples/probe: a row a run, of which each figure is a measurement.
#include <fmt/format.h>

#include <algorithm>

#include "sweep/accuracy/engine_versions.hpp"
#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {
namespace {

std::string text_field(const Fields& row, std::string_view column) {
  const auto it = row.find(column);
  if (it == row.end()) throw std::runtime_error(fmt::format("no column '{}'", column));
  return it->second;
}

}  // namespace

bool is_probe(std::span<const std::string> header) {
  return std::ranges::find(header, "probe_version") != header.end();
}

std::vector<Measurement> probe_rows(const Fields& row, const RowDefaults& defaults) {
  if (text_field(row, "status") != "ok") return {};
  const bool offloaded =
      text_field(row, "layers_cpu") != "0" || text_field(row, "layers_disk") != "0";
  const std::string count = text_field(row, "gpu_count");
  const bool cards = count != "0";
  const std::string precision = text_field(row, "precision");
  const Fields base = {
      {"model", reference_of(text_field(row, "model"), defaults, precision)},
      {"precision", precision},
      {"runtime", std::string(transformers_of(text_field(row, "transformers")))},
      {"machine", cards ? fmt::format("{}x {}", count, text_field(row, "gpu")) : "cpu"},
      {"host", text_field(row, "cpu")},
      {"batch", text_field(row, "batch")},
      {"prompt_tokens", text_field(row, "prompt_tokens")},
      {"output_tokens", text_field(row, "output_tokens")},
      {"group", cards && offloaded ? "offload" : ""},
      {"gpu_layers", cards && offloaded ? text_field(row, "layers_gpu") : ""}};
  std::vector<Measurement> all;
  const auto add = [&](std::string figure, std::string form, std::string unit,
                       std::string_view column) {
    Fields fields = base;
    fields["value"] = text_field(row, column);
    if (fields["value"].empty()) return;
    fields["figure"] = std::move(figure);
    fields["form"] = std::move(form);
    fields["unit"] = std::move(unit);
    all.push_back(measurement_of(std::move(fields)));
  };
  add("prefill", "amount", "s", "ttft_s");
  add("step", "rate_of_output", "tokens/s", "tokens_s");
  // Random weights are made in memory: nothing is loaded.
  if (text_field(row, "weights") != "random") add("load_weights", "amount", "s", "load_s");
  if (cards && !offloaded) add("allocated_peak", "amount", "bytes", "allocated_bytes");
  return all;
}

}  // namespace headroom::sweep
