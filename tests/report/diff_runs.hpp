// Small runs that differ in models, batches and machines, for the tests of what compares runs.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "report/csv.hpp"

namespace headroom::report {

/// Models × batches × machines. `contents` are the fingerprints of the models.
inline RunInfo run_of(const std::vector<std::string>& models,
                      const std::vector<std::int64_t>& contents,
                      const std::vector<std::int64_t>& batches, std::int64_t machine = 1) {
  Axis names = texts("model", models);
  names.fingerprints = contents;
  Axis machines = texts("machine", {"card"});
  machines.fingerprints = {machine};
  GridShape grid{{{texts("task", {"inference"})},
                  {names},
                  {texts("precision", {"bf16"})},
                  {numbers("batch", batches)},
                  {machines},
                  runtime("engine")}};
  return {"nights", "spec", "f", "1", {grid}};
}

inline model::Estimate outcome(double speed,
                               model::Verdict verdict = model::Verdict::fits_one_gpu) {
  model::Estimate e = made_up(0);
  e.verdict = verdict;
  e.tokens_s = speed;
  e.tpot = Seconds(1 / speed);
  return e;
}

inline std::int64_t write(const std::filesystem::path& file, const RunInfo& info,
                          const std::vector<double>& speeds) {
  Store store(file);
  store.begin_run(info);
  std::vector<model::Estimate> all;
  for (const double speed : speeds) all.push_back(outcome(speed));
  store.append(0, all);
  store.finish_run();
  return store.run_id();
}

inline std::string csv_of(const std::filesystem::path& file, std::int64_t run) {
  std::ostringstream out;
  write_csv(out, Database(file), run);
  return out.str();
}

}  // namespace headroom::report
