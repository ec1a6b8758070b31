#include "sweep/run/sample.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "report/run_text.hpp"
#include "report/store.hpp"
#include "report/temporary_folder.hpp"
#include "sweep/run/runner.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

constexpr Size sampled_blocks = 32, sampled_points = 1024;
constexpr double enough_seconds = 0.4;  ///< evaluation time: slow points need no large sample

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

fs::path new_temporary_folder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "headroom-XXXXXX").string();
  if (error || !mkdtemp(name.data()))
    throw report::StoreError(fmt::format("{}: cannot be created", name));
  return name;
}

/// First points of blocks at evenly spread places, without a rhythm that an axis may have too.
std::vector<Size> places(Size all) {
  std::vector<Size> first;
  if (all <= sampled_blocks * sampled_points) {
    for (Size at = 0; at < all; at += sampled_points) first.push_back(at);
    return first;
  }
  constexpr double golden = 0.6180339887498949;
  const Size blocks = all / sampled_points;
  for (Size i = 0; i < sampled_blocks; ++i) {
    const double share = std::fmod(golden * static_cast<double>(i), 1.0);
    const Size at = static_cast<Size>(share * static_cast<double>(blocks)) * sampled_points;
    if (std::ranges::find(first, at) == first.end()) first.push_back(at);
  }
  return first;
}

struct Evaluated {
  Size first = 0, end = 0;
  std::vector<Size> points;
  std::vector<model::Estimate> estimates;
};

/// Until all places or enough time are done; in the order of the points.
std::vector<Evaluated> evaluated(const Job& job, double& seconds) {
  std::vector<Evaluated> all;
  RunnerOptions one_thread;
  one_thread.jobs = 1;
  const double start = cpu_seconds();
  for (const Size first : places(job.points())) {
    Evaluated& each = all.emplace_back();
    each.first = first;
    each.end = std::min(job.points(), first + sampled_points);
    evaluate_blocks(job, first, each.end, one_thread, [&](const EvaluatedBlock& block) {
      each.points.assign(block.points.begin(), block.points.end());
      each.estimates.assign(block.estimates.begin(), block.estimates.end());
    });
    seconds = cpu_seconds() - start;
    if (seconds > enough_seconds) break;
  }
  std::ranges::sort(all, {}, &Evaluated::first);
  return all;
}

double file_bytes(const fs::path& file) {
  double all = 0;
  for (const auto& entry : fs::directory_iterator(file.parent_path()))
    all += static_cast<double>(fs::file_size(entry));
  return all;
}

}  // namespace

double PointCost::seconds(Size of, int threads) const {
  const double shared = (evaluate_s + store_s) / std::max(threads, 1);
  return static_cast<double>(of) * std::max(store_s, shared);
}

double PointCost::bytes(Size of) const {
  return fixed_bytes + stored_bytes * static_cast<double>(of);
}

PointCost sampled_cost(const Job& job, const Spec& spec) {
  PointCost cost;
  const auto sample = evaluated(job, cost.evaluate_s);
  for (const Evaluated& each : sample) cost.points += static_cast<Size>(each.points.size());
  const auto points = static_cast<double>(std::max<Size>(cost.points, 1));
  cost.evaluate_s /= points;
  const report::TemporaryFolder folder(new_temporary_folder());
  const fs::path file = folder.path() / "sample.sqlite";
  const report::RunInfo info = job.info(spec);
  {
    report::Store store(file);
    store.begin_run(info);
  }
  cost.fixed_bytes = file_bytes(file);
  report::Store store(file);
  store.begin_run(info);
  const double start = cpu_seconds();
  for (const Evaluated& each : sample) store.append(each.points, each.estimates, each.end);
  store.append(std::span<const Size>(), {}, job.points());
  store.finish_run();
  cost.store_s = (cpu_seconds() - start) / points;
  cost.stored_bytes = (file_bytes(file) - cost.fixed_bytes) / points;
  const report::Database database(file);
  const auto columns = report::columns_of(info);
  const report::RunText text(info, columns);
  report::TextBlock made;
  for (const Evaluated& each : sample) {
    text.read_block(database, store.run_id(), each.first, each.end - each.first, nullptr, made);
    cost.text_bytes += static_cast<double>(made.text.view().size());
  }
  cost.text_bytes /= points;
  return cost;
}

}  // namespace headroom::sweep
