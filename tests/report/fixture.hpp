// Runs made by hand for the tests of report/: a small spec, and outcomes that differ from point to
// point.
#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/run_info.hpp"
#include "report/store.hpp"
#include "tests/support/folder.hpp"

namespace headroom::report {

using headroom::test::Folder;

inline Axis texts(const std::string& column, const std::vector<std::string>& values) {
  return {column, {values.begin(), values.end()}};
}
inline Axis numbers(const std::string& column, const std::vector<std::int64_t>& values) {
  return {column, {values.begin(), values.end()}};
}
inline Digit runtime(const std::string& name) {
  return {texts("runtime", {name}),
          {"memory_low", {0.9}},
          {"memory_high", {1.1}},
          {"load_low", {0.25}},
          {"load_high", {4.0}},
          {"ttft_low", {0.75}},
          {"ttft_high", {1.5}},
          {"tpot_low", {0.5}},
          {"tpot_high", {2.0}},
          {"offload_low", {0.375}},
          {"offload_high", {3.0}},
          {"ram_stated_low", {0.5}},
          {"ram_stated_high", {2.5}},
          numbers("ram_stated_measurements", {9}),
          {"serving_ttft_low", {0.125}},
          {"serving_ttft_high", {5.0}},
          {"serving_tpot_low", {0.625}},
          {"serving_tpot_high", {1.75}},
          {"serving_rate_low", {0.875}},
          {"serving_rate_high", {1.25}},
          numbers("tpot_measurements", {42}),
          numbers("ttft_measurements", {31}),
          numbers("offload_measurements", {17})};
}

/// 2 models × 2 precisions × 3 batches = 12 points.
inline RunInfo small_run(const std::string& fingerprint = "f1") {
  GridShape grid{{{texts("task", {"inference"})},
                  {texts("model", {"a/small", "b, \"large\""}), numbers("parameters", {7, 70})},
                  {texts("precision", {"bf16", "int8"}), numbers("ram_stated", {0, 1})},
                  {numbers("batch", {1, 2, 4})},
                  runtime("transformers")}};
  return {"small", "[run]\nname = \"small\"\n", fingerprint, "0.1.0", {grid}};
}

/// Different in every field from point to point; every fourth does not fit.
inline model::Estimate made_up(Size point) {
  model::Estimate e;
  const bool fits = point % 4 != 3;
  const double never = std::numeric_limits<double>::infinity();
  const auto x = static_cast<double>(point + 1);
  e.verdict = fits ? static_cast<model::Verdict>(point % 4) : model::Verdict::does_not_fit;
  e.sure = static_cast<model::Confidence>(point % 3);
  e.reason = fits ? model::Reason::none : model::Reason::ram;
  e.gpus_used = static_cast<std::uint16_t>(point + 1);
  e.layers_gpu = 32 + point;
  e.layers_cpu = point;
  e.layers_disk = 2 * point;
  e.weights = Bytes(14'000'000'001 + point);
  e.kv_cache = Bytes(300'000'001 + point);
  e.activations = Bytes(40'000'001 + point);
  e.overhead = Bytes(900'000'001 + point);
  e.gpu_bytes = Bytes(15'000'000'010 + point);
  e.gpu_uncertain = Bytes(1'200'000'010 + point);
  const double tenth = 0.1 * e.gpu_uncertain.real().value();
  e.gpu_bytes_low = Bytes(static_cast<Size>(e.gpu_bytes.real().value() - tenth));
  e.gpu_bytes_high = Bytes(static_cast<Size>(e.gpu_bytes.real().value() + tenth));
  e.max_memory = Bytes(14'500'000'000 + point);
  e.cpu_bytes = Bytes(1'000 * point);
  e.disk_bytes = Bytes(2'000 * point);
  e.short_bytes = Bytes(fits ? 0 : 5'000'000'000 + point);
  e.load = Seconds(fits ? x / 3 : never);
  e.ttft = Seconds(fits ? x / 7 : never);
  e.tpot = Seconds(fits ? x / 11 : never);
  e.tokens_s = fits ? 11 / x : 0;
  e.total = Seconds(fits ? x * 13.1 : never);
  e.load_warm = Seconds(fits ? x / 5 : never);
  e.warming = Seconds(fits && point % 4 == 2 ? x / 17 : 0);
  return e;
}

/// The estimate above, under load.
inline model::Estimate made_up_served(Size point) {
  model::Estimate e = made_up(point);
  const auto x = static_cast<double>(point + 1);
  if (e.verdict < model::Verdict::does_not_fit)
    e.served = {point + 1,        Seconds(x / 2), Seconds(x / 19), Seconds(x * 3),
                Seconds(x / 1.5), Seconds(x * 9), 23 / x,          2900 / x};
  return e;
}

inline std::vector<model::Estimate> made_up(Size first, Size count) {
  std::vector<model::Estimate> all;
  for (Size i = 0; i < count; ++i) all.push_back(made_up(first + i));
  return all;
}

/// Writes the whole of `info` with made-up outcomes.
inline void write_all(const std::filesystem::path& file, const RunInfo& info) {
  Store store(file);
  store.begin_run(info);
  store.append(store.next_point(), made_up(store.next_point(), info.points() - store.next_point()));
  store.finish_run();
}

}  // namespace headroom::report
