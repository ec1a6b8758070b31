// The CSV of examples/probe: a row a run, of which each figure is a measurement.
#include <fmt/format.h>

#include <algorithm>

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

std::vector<Measurement> probe_rows(const Fields& row) {
  if (text_field(row, "status") != "ok") return {};
  const bool offloaded =
      text_field(row, "layers_cpu") != "0" || text_field(row, "layers_disk") != "0";
  const bool cards = text_field(row, "gpu_count") != "0";
  std::string settings = fmt::format("framework=transformers {}", text_field(row, "transformers"));
  if (cards && offloaded) settings += ";gpu_layers=" + text_field(row, "layers_gpu");
  std::vector<Measurement> all;
  const auto add = [&](std::string_view category, std::string_view quantity, std::string_view unit,
                       std::string_view column) {
    const std::string value = text_field(row, column);
    if (value.empty()) return;
    all.push_back(measurement_of({{"category", std::string(category)},
                                  {"model", text_field(row, "model")},
                                  {"precision", text_field(row, "precision")},
                                  {"task", "inference"},
                                  {"gpu", text_field(row, "gpu")},
                                  {"gpu_count", text_field(row, "gpu_count")},
                                  {"cpu", text_field(row, "cpu")},
                                  {"batch", text_field(row, "batch")},
                                  {"prompt_len", text_field(row, "prompt_tokens")},
                                  {"output_len", text_field(row, "output_tokens")},
                                  {"settings", settings},
                                  {"quantity", std::string(quantity)},
                                  {"unit", std::string(unit)},
                                  {"value", value},
                                  {"grade", "A"}}));
  };
  const std::string_view speed = cards && offloaded ? "offload_speed" : "decode_speed";
  add(speed, "prefill_time", "s", "ttft_s");
  add(speed, "decode_speed", "tokens/s", "tokens_s");
  // Random weights are made in memory: nothing is loaded.
  if (text_field(row, "weights") != "random") add(speed, "model_load_time", "s", "load_s");
  if (cards && !offloaded) add("inference_memory", "max_gpu_memory", "bytes", "allocated_bytes");
  return all;
}

}  // namespace headroom::sweep
