// Content of reports: chosen points, words, advice, complete documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "fixture.hpp"
#include "hardware/text_file.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/advice.hpp"
#include "report/csv.hpp"
#include "report/reports.hpp"
#include "report/view.hpp"
#include "report/words.hpp"
#include "tests/support/paths.hpp"

namespace headroom::report {
namespace {

constexpr Size gib_bytes = Size{1} << 30;
constexpr double never = std::numeric_limits<double>::infinity();

/// An outcome with weights of so many GiB on cards of 40 GiB with 100 GiB of RAM; a toy of the real
/// rules.
model::Estimate placed(Size weights, Size gpus) {
  using enum model::Verdict;
  model::Estimate e;
  e.weights = Bytes(weights * gib_bytes);
  const Size cards = gpus * 40, rest = weights - cards;
  e.layers_gpu = 80;
  e.gpus_used = static_cast<std::uint16_t>(std::min(gpus, weights / 40 + 1));
  e.sure = model::Confidence::yes;
  e.verdict = rest <= 0     ? e.gpus_used > 1 ? fits_gpus : fits_one_gpu
              : rest <= 100 ? fits_cpu_offload
              : rest <= 300 ? fits_disk_offload
                            : does_not_fit;
  if (rest > 0) {
    e.layers_gpu = 80 * cards / weights;
    e.layers_cpu = rest <= 100 ? 80 - e.layers_gpu : 80 * 100 / weights;
    e.layers_disk = 80 - e.layers_gpu - e.layers_cpu;
  }
  e.gpu_bytes = e.gpu_uncertain = Bytes(std::min<Size>(weights, 40) * gib_bytes);
  const bool runs = e.verdict != does_not_fit;
  const double speed =
      rest <= 0 ? 1000.0 / static_cast<double>(weights) : 1.0 / static_cast<double>(rest);
  e.tpot = Seconds(runs ? 1 / speed : never);
  e.tokens_s = runs ? speed : 0;
  e.ttft = e.load = Seconds(runs ? 2 : never);
  e.total = e.ttft + 127.0 * e.tpot;
  e.reason = rest <= 0 ? model::Reason::none : model::Reason::gpu_memory;
  if (!runs) {
    e.reason = model::Reason::ram;
    e.short_bytes = Bytes((rest - 300) * gib_bytes);
  }
  return e;
}

/// Small, middle and huge model, in their own precision (auto), bf16, int8 and int4, on two and on
/// four cards.
RunInfo grid_run() {
  Digit models{texts("model", {"org/small", "org/middle", "org/huge"}),
               texts("checkpoint_precision", {"bf16", "bf16", "bf16"}),
               numbers("parameters", {7'000'000'000, 70'000'000'000, 700'000'000'000})};
  Digit machines{texts("machine", {"2x card @ host", "4x card @ host"}), numbers("gpus", {2, 4}),
                 numbers("gpu_memory_bytes", {40 * gib_bytes, 40 * gib_bytes})};
  Digit engine{texts("runtime", {"engine"}),
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
               numbers("memory_measurements", {12}),
               numbers("ttft_measurements", {23}),
               numbers("tpot_measurements", {34}),
               numbers("offload_measurements", {45})};
  return {"golden",
          "spec",
          "f",
          "0.1.0",
          {{{machines,
             models,
             {texts("precision", {"auto", "bf16", "int8", "int4"})},
             {numbers("batch", {4, 1})},
             {numbers("prompt_tokens", {512})},
             {numbers("output_tokens", {128})},
             engine}}}};
}

void write_grid(const std::filesystem::path& file) {
  constexpr Size weights[3][4] = {{14, 14, 7, 4}, {140, 140, 70, 35}, {1400, 1400, 700, 350}};
  std::vector<model::Estimate> all;
  for (const Size gpus : {2, 4})
    for (const auto& model : weights)
      for (const Size w : model)
        for (const Size batch : {4, 1}) {
          all.push_back(placed(w, gpus));
          all.back().kv_cache = Bytes(batch * gib_bytes);
        }
  Store store(file);
  store.begin_run(grid_run());
  store.append(0, all);
  // The middle model in its own precision (and in bf16) at batch 1: on two
  // cards, and on four.
  store.keep_longest_contexts(
      std::vector<std::pair<Size, Size>>{{9, 4096}, {11, 4096}, {33, 131072}});
  store.finish_run();
}

class GoldenRun : public ::testing::Test {
 protected:
  void SetUp() override { write_grid(folder_ / "r.sqlite"); }
  Folder folder_;
};

TEST_F(GoldenRun, RowsShowTheSmallestBatch) {
  const Database database(folder_ / "r.sqlite");
  const auto lines = lines_of(database, Axes(database.run(1)), 1);
  ASSERT_EQ(lines.size(), 24u);
  for (const ModelRow& line : lines) EXPECT_EQ(line.roomiest().estimate.kv_cache, Bytes(gib_bytes));
  EXPECT_EQ(lines[4].model, "org/middle");
  EXPECT_EQ(lines[4].held, "bf16");
  EXPECT_EQ(lines[4].conditions, "batch 1, 512 + 128 tokens");
  EXPECT_TRUE(repeated(lines)[4]);
  EXPECT_FALSE(repeated(lines)[5]);
}

std::string advice_for(const Source& source, std::size_t machine, std::size_t model) {
  const auto machines = by_machine(source.shown);
  const auto& here = machines.at(machine).models.at(model);
  return advice(*here.front(), here, source.shown);
}

TEST_F(GoldenRun, AdviceComesFromTheOtherRows) {
  const Database database(folder_ / "r.sqlite");
  const Source source = source_of(database, 1);
  EXPECT_EQ(advice_for(source, 0, 0), "");
  EXPECT_EQ(advice_for(source, 0, 1), "int8: 140.00 → 70.00 GiB, fits on 2 GPUs");
  EXPECT_EQ(advice_for(source, 1, 1), "");
  EXPECT_EQ(advice_for(source, 0, 2),
            "int4: 1400.00 → 350.00 GiB, CPU + disk offload, slow (28 % of layers on CPU, 50 % of "
            "layers on disk); more GPUs: at least 36 like these; more CPU memory: 1020.00 GiB "
            "short; skip this model here");
}

// A precision that decodes faster and reads the prompt more slowly helps only where the whole
// answer takes less time.
TEST_F(GoldenRun, AdviceOfAPrecisionJudgesByTheWholeAnswer) {
  const Database database(folder_ / "r.sqlite");
  const Source source = source_of(database, 1);
  const auto machines = by_machine(source.shown);
  const auto& here = machines.at(0).models.at(1);
  ModelRow wide = *here.front(), narrow = **std::ranges::find(here, "int8", &ModelRow::precision);
  model::Estimate& before = wide.entries.back().estimate;
  model::Estimate& after = narrow.entries.back().estimate;
  after.verdict = before.verdict;
  before.tokens_s = 0.25;
  before.total = Seconds(518);
  after.tokens_s = 1.5;
  after.total = Seconds(700);
  const std::vector<const ModelRow*> two{&wide, &narrow};
  EXPECT_EQ(advice(wide, two, two).find("int8"), std::string::npos);
  after.total = Seconds(91);
  EXPECT_NE(advice(wide, two, two).find("0.250 → 1.50 tokens/s, 518 → 91.0 s an answer"),
            std::string::npos)
      << advice(wide, two, two);
}

TEST_F(GoldenRun, AdviceNamesAnotherMachineOfTheRun) {
  const Database database(folder_ / "r.sqlite");
  Source source = source_of(database, 1);
  std::vector<const ModelRow*> bf16_alone;
  for (const ModelRow* line : source.shown)
    if (line->precision == "bf16" && line->model == "org/middle") bf16_alone.push_back(line);
  const auto machines = by_machine(bf16_alone);
  const auto& here = machines.at(0).models.at(0);
  EXPECT_EQ(advice(*here.front(), here, bf16_alone),
            "more GPUs: bf16 fits on 4 GPUs on 4x card @ host");
}

/// Compares with the file in tests/report/golden, or rewrites it when HEADROOM_BLESS is set.
void expect_golden(const std::string& name, const std::string& found) {
  const auto file =
      std::filesystem::path(headroom::test::source_path("tests/report/golden")) / name;
  if (std::getenv("HEADROOM_BLESS")) std::ofstream(file, std::ios::binary) << found;
  EXPECT_EQ(found, read_text_file(file))
      << "rewrite with HEADROOM_BLESS=1 and review the difference";
}

TEST_F(GoldenRun, Documents) {
  const Database database(folder_ / "r.sqlite");
  const Source source = source_of(database, 1);
  expect_golden("compatibility.md",
                to_markdown(compatibility_document(source, compatibility_overview(source))));
  std::ostringstream csv;
  write_csv(csv, compatibility_table(source));
  expect_golden("compatibility.csv", csv.str());
  const auto machines = machine_documents(source);
  ASSERT_EQ(machines.size(), 2U);
  expect_golden("machine.md", to_markdown(machines.front().second));
  expect_golden("precision.md", to_markdown(precision_document(source)));
}

TEST_F(GoldenRun, TheFolderHasItsFilesAndALinkToEach) {
  const Database database(folder_ / "r.sqlite");
  const Written written = write_reports(database, 1, folder_ / "out", Figures::skip);
  const std::string page = read_text_file(folder_ / "out" / "README.md");
  for (const auto& file : written.files) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() / "out" / file)) << file;
    if (file == "README.md") continue;
    const bool below = file.parent_path() == "machines";
    const std::string target = below ? "machines/" : file.string();
    EXPECT_NE(page.find("(" + target + ")"), std::string::npos) << file;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ / "out"), {}), 7);
  EXPECT_NE(
      page.find("memory -10 % to +10 % (12 measured rows), first token -25 % to +50 % (23 measured "
                "rows), time per token -50 % to +100 % (34"),
      std::string::npos);
}

TEST_F(GoldenRun, AnUnfinishedRunIsNotReported) {
  {
    Store store(folder_ / "r.sqlite");
    store.begin_run(small_run());
  }
  const Database database(folder_ / "r.sqlite");
  EXPECT_THROW(source_of(database, 2), StoreError);
  EXPECT_THROW(source_of(database, 3), StoreError);
}

TEST_F(GoldenRun, EveryViewRuns) {
  const Database database(folder_ / "r.sqlite");
  // Training is in training_report_test, serving in store_test.
  for (const View& v : views())
    EXPECT_EQ(database.query(std::string(v.sql), 1).rows.empty(),
              v.name == "trainable" || v.name == "serving")
        << v.name;
  const Table t = database.query(std::string(view("fastest").sql), 1);
  EXPECT_EQ(text(t.rows.at(0).at(t.index("precision"))), "int4");
}

TEST(Words, SayWhatTheVerdictMeans) {
  ModelRow line;
  line.gpu_memory = 40 * gib_bytes;
  line.factors.memory.measurements = 1;
  const auto words = [&](model::Estimate e) { return verdict_words(line, {0, {}, e}); };
  EXPECT_EQ(words(placed(14, 2)), "fits easily");
  EXPECT_EQ(words(placed(30, 2)), "fits on 1 GPU");
  EXPECT_EQ(words(placed(70, 2)), "fits on 2 GPUs");
  EXPECT_EQ(words(placed(120, 2)), "fits with CPU offload (34 % of layers)");
  EXPECT_EQ(words(placed(170, 2)), "needs extensive CPU offload (54 % of layers)");
  EXPECT_EQ(words(placed(400, 2)), "does not fit: 20.00 GiB of CPU memory short");
  model::Estimate refused;
  refused.reason = model::Reason::heads_not_divisible;
  EXPECT_EQ(words(refused), "refused: tensor parallelism does not divide the heads");
  model::Estimate marginal = placed(70, 2);
  marginal.sure = model::Confidence::marginal;
  EXPECT_EQ(words(marginal), "fits on 2 GPUs, tight");
  line.factors.memory.measurements = 0;
  EXPECT_EQ(words(marginal), "fits on 2 GPUs");
}

TEST(Words, EveryReasonHasWordsOfItsOwn) {
  for (int i = 1; i < 32; ++i) {
    const auto reason = static_cast<model::Reason>(i);
    if (name_of(reason).empty()) continue;
    EXPECT_NE(reason_words(reason), name_of(reason));
  }
}

TEST(Words, SpeedClassesAtTheirThresholds) {
  const auto at = [](double tokens_s) {
    model::Estimate e;
    e.tpot = Seconds(1 / tokens_s);
    return speed_class(e);
  };
  EXPECT_EQ(at(20.01), "fast");
  EXPECT_EQ(at(19.99), "medium");
  EXPECT_EQ(at(4.99), "slow");
  EXPECT_EQ(at(0.99), "very slow");
  model::Estimate no;
  no.tpot = Seconds(never);
  EXPECT_EQ(speed_class(no), "");
}

}  // namespace
}  // namespace headroom::report
