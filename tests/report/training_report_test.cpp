// Training points in the database and in reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fixture.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/training.hpp"
#include "report/read.hpp"
#include "report/reports.hpp"
#include "report/training_points.hpp"
#include "report/view.hpp"

namespace headroom::report {
namespace {

constexpr Size GiB = Size{1} << 30;

RunInfo training_run() {
  GridShape grid{{{texts("model", {"a/one", "b/two"}), numbers("parameters", {1, 2})},
                  {texts("adapters", {"full", "lora"}), {"rank", {AxisValue(), std::int64_t{8}}}},
                  {texts("machine", {"1x card"}), numbers("gpu_memory_bytes", {24 * GiB})},
                  {numbers("batch", {1, 2})},
                  {texts("runtime", {"trainer"}), {"memory_low", {0.9}}, {"memory_high", {1.1}}}}};
  grid.digits.front().push_back(texts("task", {"training", "training"}));
  return {"trained", "[run]\n", "t1", "0.1.0", {grid}};
}

model::Estimate step(Size point) {
  model::Estimate e;
  e.task = model::Task::training;
  const bool fits = point % 2 == 0;
  const double never = std::numeric_limits<double>::infinity();
  e.verdict = fits ? model::Verdict::fits_one_gpu : model::Verdict::does_not_fit;
  e.reason = fits ? model::Reason::none : model::Reason::gpu_memory;
  e.sure = model::Confidence::yes;
  e.gpus_used = 1;
  e.weights = Bytes(2 * GiB + point);
  e.activations = Bytes(5 * GiB);
  e.overhead = Bytes(GiB);
  e.step = {.master = Bytes(4 * GiB),
            .gradients = Bytes(2 * GiB),
            .states = Bytes(8 * GiB),
            .loss = Bytes(GiB),
            .working = Bytes(GiB / 2),
            .exchanged = Bytes(GiB / 4),
            .stepping = Bytes(3 * GiB),
            .moment = static_cast<std::uint8_t>(point % 4),
            .gradients_alive = point % 3 == 0,
            .time = Seconds(fits ? 2.5 : never),
            .utilization = 0.4};
  e.gpu_bytes = Bytes((fits ? 22 : 27) * GiB + point);
  e.short_bytes = Bytes(fits ? 0 : 3 * GiB);
  e.load = e.ttft = e.tpot = e.total = Seconds(never);
  e.tokens_s = fits ? 1000.0 + static_cast<double>(point) : 0;
  return e;
}

void write_training(const std::filesystem::path& file) {
  Store store(file);
  store.begin_run(training_run());
  std::vector<model::Estimate> all;
  for (Size i = 0; i < store.end_point(); ++i) all.push_back(step(i));
  store.append(0, all);
  store.finish_run();
}

TEST(TrainingStore, RowsComeBackAsTheyWere) {
  Folder folder;
  write_training(folder / "r.sqlite");
  const Database database(folder / "r.sqlite");
  Size seen = 0;
  database.for_each(1, [&](Size point, const model::Estimate& e) {
    const model::Estimate was = step(point);
    ++seen;
    EXPECT_EQ(e.task, model::Task::training);
    EXPECT_EQ(e.gpus_used, was.gpus_used);
    EXPECT_EQ(e.step.master, was.step.master);
    EXPECT_EQ(e.step.stepping, was.step.stepping);
    EXPECT_EQ(e.step.moment, was.step.moment);
    EXPECT_EQ(e.step.gradients_alive, was.step.gradients_alive);
    EXPECT_EQ(e.step.time.value(), was.step.time.value());
    EXPECT_EQ(e.step.utilization, was.step.utilization);
  });
  EXPECT_EQ(seen, 8);
  const Table table = database.query(
      "SELECT gradients_bytes, peak_at, step_s, total_bytes, adapters, rank, gpus_used FROM result "
      "WHERE point = 2",
      1);
  EXPECT_EQ(number(table.rows[0][0]), 2.0 * GiB);
  EXPECT_EQ(text(table.rows[0][1]), name_of(model::Peak::backward));
  EXPECT_EQ(number(table.rows[0][2]), 2.5);
  EXPECT_EQ(text(table.rows[0][3]), "");
  EXPECT_EQ(text(table.rows[0][4]), "lora");
  EXPECT_EQ(number(table.rows[0][5]), 8);
  EXPECT_EQ(number(table.rows[0][6]), 1);
}

TEST(TrainingReport, PartsAddUpToThePeak) {
  for (Size point = 0; point < 8; ++point) {
    const model::Estimate e = step(point);
    Bytes sum;
    for (const Bytes part : parts_of(e)) sum += part;
    EXPECT_EQ(sum, e.gpu_bytes) << point;
  }
}

TEST(TrainingReport, ShowsTheBestPointOfEachModelAndMethod) {
  Folder folder;
  write_training(folder / "results.sqlite");
  const Database database(folder / "results.sqlite");
  const Source source = source_of(database, 1);
  const auto lines = training_lines(source);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1].method, "lora 8");
  EXPECT_EQ(lines[1].point, 2);
  EXPECT_EQ(lines[1].points, 2);
  EXPECT_EQ(lines[1].fitting, 1);
  const auto written = write_reports(database, 1, folder / "out", Figures::draw);
  const auto has = [&](const char* name) {
    return std::ranges::find(written.files, std::filesystem::path(name)) != written.files.end();
  };
  EXPECT_TRUE(has("training.md"));
  EXPECT_TRUE(has("curves/training-1.gp"));
  EXPECT_TRUE(has("curves/training-1.dat"));
  EXPECT_FALSE(has("compatibility.md"));  // nothing is decoded
  std::ostringstream page;
  page << std::ifstream(folder / "out/index.html").rdbuf();
  EXPECT_NE(page.str().find("Training</h2>"), std::string::npos);
  std::ostringstream document;
  document << std::ifstream(folder / "out/training.md").rdbuf();
  const Table largest = database.query(std::string(view("trainable").sql), 1);
  ASSERT_EQ(largest.rows.size(), 2U);  // full and lora
  EXPECT_EQ(text(largest.rows[1][largest.index("model")]), "b/two");
  std::ostringstream overview;
  overview << std::ifstream(folder / "out/README.md").rdbuf();
  EXPECT_NE(overview.str().find("trainer, training: GPU memory -10 % to +10 %"), std::string::npos);
  EXPECT_NE(document.str().find("| b/two | lora 8 | batch 1 | fits on 1 GPU |"), std::string::npos)
      << document.str();
}

}  // namespace
}  // namespace headroom::report
