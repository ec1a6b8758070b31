// Which way of a model is the best one of a machine.
#include "report/way_rows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/infer/scenario/verdict.hpp"
#include "report/reports.hpp"

namespace headroom::report {
namespace {

/// A model of 8 billion parameters in `held`, at so many bits a parameter.
ModelRow way(const std::string& held, double bits, model::Verdict verdict, double answer_s) {
  ModelRow row;
  row.precision = row.held = held;
  row.checkpoint = "bf16";
  row.parameters = 8e9;
  model::Estimate e;
  e.verdict = verdict;
  e.sure = model::Confidence::yes;
  e.weights = Bytes(static_cast<Size>(bits * 1e9));
  e.total = Seconds(answer_s);
  row.entries.push_back({0, {}, e});
  return row;
}

std::string best_of(const std::vector<ModelRow>& rows) {
  std::vector<const ModelRow*> here;
  for (const ModelRow& row : rows) here.push_back(&row);
  return best_way(here).held;
}

using enum model::Verdict;

TEST(WayRows, NarrowerOnesHaveToBeFasterThanTheirBits) {
  EXPECT_EQ(best_of({way("q4_K_M", 4.8, fits_one_gpu, 1), way("q8_0", 8.5, fits_one_gpu, 1.9)}),
            "q8_0");
  EXPECT_EQ(best_of({way("q4_K_M", 4.8, fits_one_gpu, 1), way("q8_0", 8.5, fits_one_gpu, 2.1)}),
            "q4_K_M");
}

TEST(WayRows, NoFormatIsWiderThanTheCheckpoint) {
  EXPECT_EQ(best_of({way("fp32", 32, fits_gpus, 4), way("bf16", 16, fits_one_gpu, 2)}), "bf16");
}

TEST(WayRows, EquallyWideOnesGoByTheAnswer) {
  EXPECT_EQ(best_of({way("q8_0", 8.5, fits_one_gpu, 2), way("int8", 8.4, fits_one_gpu, 1)}),
            "int8");
}

TEST(WayRows, OneThatLeavesTowersOutComesAfterOneThatLoadsThem) {
  ModelRow text = way("mlx-8bit", 8.5, fits_one_gpu, 1);
  text.parameters = 7e9;
  EXPECT_EQ(best_of({text, way("q4_K_M", 4.8, fits_one_gpu, 0.5)}), "q4_K_M");
  EXPECT_EQ(best_of({text, way("q4_K_M", 4.8, fits_cpu_offload, 2)}), "mlx-8bit");
}

/// Nobody is served at once by an engine that serves one batch at a time.
TEST(WayRows, AdmittedRequestsComeBeforeOneBatchAtATime) {
  ModelRow batch = way("bf16", 16, fits_one_gpu, 1), admitted = way("fp16", 16, fits_one_gpu, 3);
  batch.admits_requests = false;
  for (ModelRow* row : {&batch, &admitted}) {
    row->batch = 8;
    row->entries.front().estimate.gpus_used = 1;
  }
  EXPECT_EQ(best_of({batch, admitted}), "fp16");
  batch.batch = admitted.batch = 1;
  EXPECT_EQ(best_of({batch, admitted}), "bf16");
}

TEST(WayRows, ATightOneComesAfterOneWithRoom) {
  std::vector<ModelRow> rows = {way("q8_0", 8.5, fits_one_gpu, 1),
                                way("q4_K_M", 4.8, fits_one_gpu, 0.6)};
  EXPECT_EQ(best_of(rows), "q8_0");
  rows[0].entries[0].estimate.sure = model::Confidence::marginal;
  EXPECT_EQ(best_of(rows), "q8_0") << "memory that is not measured is no limit";
  rows[0].factors.memory.measurements = 1;
  EXPECT_EQ(best_of(rows), "q4_K_M");
  EXPECT_TRUE(is_tight(rows[0]));
}

TEST(WayRows, OffloadGoesByTheAnswer) {
  const ModelRow slow = way("q8_0", 8.5, fits_cpu_offload, 90),
                 fast = way("q4_K_M", 4.8, fits_cpu_offload, 30);
  EXPECT_EQ(best_of({slow, fast}), "q4_K_M");
  EXPECT_EQ(best_of({slow, fast, way("q3_K_M", 3.9, fits_one_gpu, 20)}), "q3_K_M");
  EXPECT_EQ(best_of({slow, fast, way("iq1_s", 1.7, fits_one_gpu, 20)}), "q4_K_M");
}

TEST(WayRows, RefusedIsLast) {
  ModelRow missing = way("bf16", 16, does_not_fit, 0);
  EXPECT_EQ(best_of({way("fp8", 8, refused, 0), missing}), "bf16");
}

/// A sentence names two workloads; the files of the machines name more.
TEST(WayRows, TheMatrixNamesItsWorkloads) {
  std::vector<ModelRow> rows(3);
  const std::vector<const ModelRow*> all = {&rows[0], &rows[1], &rows[0], &rows[2]};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].conditions = fmt::format("batch {}", i);
  const auto begin_of = [&](std::size_t count) {
    const Text legend = matrix_legend(std::span(all).first(count));
    return to_markdown(Document().paragraph(legend));
  };
  EXPECT_TRUE(begin_of(1).starts_with("Cells are at batch 0. "));
  EXPECT_TRUE(begin_of(3).starts_with("Cells are at batch 0; or batch 1. "));
  EXPECT_TRUE(begin_of(4).starts_with("The file of each machine names its cells' workloads. "));
}

}  // namespace
}  // namespace headroom::report
