// Calibration: every form of a benchmark's output says the same, constants that are known come out
// again, what cannot be told is not fitted, and a profile reads as it was written.
#include "sweep/accuracy/calibration.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "hardware/units.hpp"
#include "sweep/accuracy/measured_file.hpp"
#include "sweep/accuracy/prediction.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/sweep/synthetic.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

std::string bench(const std::string& name) {
  return headroom::test::source_path("tests/cli/data/bench/" + name);
}

/// A file of this name, in a folder of this process, that goes away with it.
fs::path path_of(const std::string& name) {
  static const headroom::test::Folder folder;
  return folder / name;
}

std::string written(const std::string& name, const std::string& text) {
  const fs::path file = path_of(name);
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

std::string message(const std::string& text) {
  const std::string file = written("bad", text);
  try {
    read_measured(file, {});
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(MeasuredFile, FormsOfLlamaBenchSayTheSame) {
  const MeasuredFile csv = read_measured(bench("rtx-4080.csv"), {});
  EXPECT_EQ(csv.format, "llama-bench csv");
  ASSERT_EQ(csv.rows.size(), 5u);
  const Measurement& prompt = csv.rows[0];
  EXPECT_EQ(prompt["model"], "Qwen/Qwen2.5-7B");
  EXPECT_EQ(prompt["precision"], "q4_k_m");
  EXPECT_EQ(prompt["figure"], "prefill");
  EXPECT_EQ(prompt["form"], "rate_of_prompt");
  EXPECT_EQ(prompt["prompt_tokens"], "512");
  EXPECT_EQ(prompt["machine"], "1x NVIDIA GeForce RTX 4080");
  EXPECT_EQ(prompt["gpu_layers"], "99");
  EXPECT_EQ(csv.rows[4]["prompt_tokens"], "512");  // decode at a depth
  const MeasuredFile json = read_measured(bench("rtx-4080.json"), {});
  EXPECT_EQ(json.format, "llama-bench json");
  ASSERT_EQ(json.rows.size(), 2u);
  for (const auto column : {"model", "precision", "figure", "prompt_tokens", "machine", "runtime"})
    EXPECT_EQ(json.rows[0][column], prompt[column]) << column;
  EXPECT_EQ(read_measured(bench("rtx-4080.jsonl"), {}).rows[0]["value"], "7263.609157");
}

TEST(MeasuredFile, StatementsAndTheirDatabaseSayTheSame) {
  const MeasuredFile sql = read_measured(bench("rtx-3090-ti.sql"), {});
  const std::string file = written("bench.sqlite", "");
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  std::ifstream in(bench("rtx-3090-ti.sql"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  ASSERT_EQ(sqlite3_exec(database, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  const MeasuredFile same = read_measured(file, {});
  EXPECT_EQ(same.format, "llama-bench sqlite");
  ASSERT_EQ(same.rows.size(), sql.rows.size());
  ASSERT_EQ(sql.rows.size(), 9u);
  for (std::size_t i = 0; i < 9; ++i)
    for (const auto column : {"model", "precision", "figure", "value", "prompt_tokens"})
      EXPECT_EQ(same.rows[i][column], sql.rows[i][column]);
}

TEST(MeasuredFile, StatementsMayMakeTablesAndNoMore) {
  const fs::path other = path_of("other.sqlite");
  EXPECT_NE(
      message("CREATE TABLE t (a); ATTACH '" + other.string() + "' AS x;").find("not authorized"),
      std::string::npos);
  EXPECT_FALSE(fs::exists(other));
}

TEST(MeasuredFile, WhatIsNotUnderstoodIsSaid) {
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("[{\"a\": 1").find("cut off"), std::string::npos);
  EXPECT_NE(message("[]").find("no rows"), std::string::npos);
  EXPECT_NE(message("{\"a\": 1}").find("expected llama-bench"), std::string::npos);
  EXPECT_NE(message("model,precision,runtime,figure,unit,value\n").find("a header and no rows"),
            std::string::npos);
  EXPECT_NE(message("model,precision,runtime,figure,unit,value\ngpt2,fp16,vllm,,tokens/s,3\n")
                .find("no figure"),
            std::string::npos);
  EXPECT_NE(message("figure,unit,value\nram_bandwidth,MB,3\n").find("GB/s"), std::string::npos);
}

TEST(MeasuredFile, ServingAndHostsAndThePlainForm) {
  const MeasuredFile serving = read_measured(bench("serving.json"), {});
  ASSERT_EQ(serving.rows.size(), 3u);
  EXPECT_EQ(serving.rows[1]["figure"], "serving_step");
  EXPECT_EQ(serving.rows[1]["batch"], "16");
  EXPECT_EQ(serving.rows[1]["prompt_tokens"], "512");
  EXPECT_EQ(serving.rows[1]["output_tokens"], "128");
  const MeasuredFile plain = read_measured(
      written("plain.csv",
              "model,precision,runtime,figure,form,unit,value\n"
              ",,,ram_bandwidth,,GB/s,61.5\n"
              "openai-community/gpt2,float16,transformers,step,rate_of_output,tokens/s,50\n"),
      {});
  EXPECT_EQ(plain.host.ram_bandwidth->value(), 61.5e9);
  ASSERT_EQ(plain.rows.size(), 1u);
  EXPECT_EQ(plain.rows[0]["runtime"], "transformers");
}

/// The figures of a log of vLLM's start, by name; GiB or seconds.
std::map<std::string, std::string> figures_of(const std::string& log, const RowDefaults& defaults,
                                              std::vector<std::string>* notes = nullptr) {
  const MeasuredFile file = read_measured(written("vllm.log", log), defaults);
  EXPECT_EQ(file.format, "vLLM log");
  std::map<std::string, std::string> found;
  for (const Measurement& row : file.rows) {
    const double value = row.number("value").value();
    found[row["figure"]] = fmt::format("{:.6g}", row["unit"] == "bytes" ? value / GiB : value);
  }
  if (notes != nullptr) *notes = file.notes;
  return found;
}

// Lines cut out of a log name the engine's lines, not always the program.
TEST(VllmLog, WithoutTheNameOfTheProgram) {
  const auto found = figures_of(
      "INFO Initializing a V1 LLM engine with config: model='gpt2', dtype=torch.bfloat16, "
      "max_seq_len=1024, tensor_parallel_size=1\nINFO Model loading took 0.24 GiB and 0.5 seconds\n"
      "INFO Available KV cache memory: 19.31 GiB\nGPU KV cache size: 562,000 tokens\n"
      "Maximum concurrency for 1,024 tokens per request: 548.8x\n",
      {});
  EXPECT_EQ(found.at("card_weights:0"), "0.24");
}

// Figures of a run with Llama-3.1-8B on an RTX 3090, github.com/vllm-project/vllm/issues/10517:
// 23.58 GiB x 0.9 - 3.81 GiB beside the cache, of which 1,952 blocks of 16 tokens hold 1.5616
// sequences.
TEST(VllmLog, OfTheFirstEngine) {
  const auto found = figures_of(
      "INFO Initializing an LLM engine (v0.6.4) with config: model='meta-llama/Llama-3.1-8B', "
      "dtype=torch.bfloat16, max_seq_len=20000, tensor_parallel_size=1, quantization=None, "
      "kv_cache_dtype=auto, vllm\nINFO Loading model weights took 14.9888 GB\n"
      "INFO Memory profiling results: total_gpu_memory=23.58GiB initial_memory_usage=15.34GiB "
      "kv_cache_size=3.81GiB gpu_memory_utilization=0.90\n# GPU blocks: 1952, # CPU blocks: 2048\n"
      "Maximum concurrency for 20000 tokens per request: 1.56x\n",
      {});
  EXPECT_EQ(found.at("card_weights:0"), "14.9888");
  EXPECT_EQ(found.at("all_but_cache"), "17.412");
  EXPECT_EQ(found.at("card_cache"), "2.43981");
  EXPECT_FALSE(found.contains("load_weights"));
}

// Figures as printed by 0.8: github.com/kubernetes-sigs/gateway-api-inference-extension/pull/550.
TEST(VllmLog, OfTheFirstEngineLater) {
  const auto found = figures_of(
      "INFO [llm_engine.py] Initializing a V0 LLM engine (v0.8.1) with config: model='m/n', "
      "max_seq_len=4096, vllm\nINFO Model loading took 12.5523 GiB and 3.217 seconds\n"
      "INFO the current vLLM instance can use total_gpu_memory (79.19GiB) x "
      "gpu_memory_utilization (0.90) = 71.27GiB\nINFO model weights take 12.55GiB; "
      "non_torch_memory takes 0.16GiB; the rest of the memory reserved for KV Cache is 56.18GiB.\n"
      "# cuda blocks: 7191, # CPU blocks: 512\n",
      {});
  EXPECT_EQ(found.at("all_but_cache"), "15.09");
  EXPECT_EQ(found.at("load_weights"), "3.217");
  EXPECT_FALSE(found.contains("card_cache"));  // how many sequences is not said
}

// Figures of github.com/vllm-project/vllm/issues/21348: 8.11 GiB for 178,880 tokens on each of four
// cards.
TEST(VllmLog, OfTheSecondEngine) {
  const std::string log =
      "INFO non-default args: {'model': 'Qwen/Qwen3-235B-A22B-FP8', 'tensor_parallel_size': 4}\n"
      "(EngineCore pid=7) INFO Initializing a V1 LLM engine (v0.19.0) with config: "
      "model='Qwen/Qwen3-235B-A22B-FP8', speculative_config=None, dtype=torch.bfloat16, "
      "max_seq_len=40960, tensor_parallel_size=4, pipeline_parallel_size=1, quantization=fp8, "
      "kv_cache_dtype=fp8_e5m2, vllm\n"
      "(Worker_TP0) INFO Model loading took 54.9 GiB memory and 60.297843 seconds\n"
      "(Worker_TP0) INFO Available KV cache memory: 8.11 GiB\n"
      "INFO GPU KV cache size: 178,880 tokens\n"
      "INFO Maximum concurrency for 40,960 tokens per request: 4.37x\n"
      "INFO Graph capturing finished in 8 secs, took 0.31 GiB\n";
  std::vector<std::string> notes;
  auto found = figures_of(log, {}, &notes);
  EXPECT_EQ(found.at("card_cache"), "1.85703");  // 8.11 * 40960 / 178880
  EXPECT_EQ(found.at("load_weights"), "60.2978");
  EXPECT_FALSE(found.contains("all_but_cache"));  // of a card whose memory nothing says
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("no memory of the card"), std::string::npos);
  EXPECT_NE(notes[1].find("0.31 GiB"), std::string::npos);
  const RowDefaults with_card{{}, {}, Bytes(Size{80} << 30)};
  EXPECT_EQ(figures_of(log, with_card).at("all_but_cache"), "63.89");  // 80 * 0.9 - 8.11
  const MeasuredFile file = read_measured(written("second.log", log), {});
  EXPECT_EQ(file.rows[0]["tp"], "4");
  EXPECT_EQ(file.rows[0]["kv_precision"], "fp8_e5m2");
  EXPECT_EQ(file.rows[0]["precision"], "fp8");
  // What is set stands in the arguments; a later start replaces one before.
  const std::string half =
      std::string(log).replace(log.find("'tensor_par"), 0, "'gpu_memory_utilization': 0.5, ");
  EXPECT_EQ(figures_of(half + log, with_card).at("all_but_cache"), "63.89");
  EXPECT_EQ(figures_of(log + half, with_card).at("all_but_cache"), "31.89");
}

TEST(VllmLog, SaysItsOwnBudgetAndWhatCannotBeRead) {
  const auto found = figures_of(
      "INFO Initializing a V1 LLM engine (v0.11.0) with config: model='m/n', max_seq_len=4096, "
      "vllm\nINFO Time spent downloading weights for m/n: 40.2 seconds\n"
      "INFO Model loading took 1.14 GiB and 44.1 seconds\nAvailable KV cache memory: -0.04 GiB\n"
      "Free memory on device (60.86/61.27 GiB) on startup. Desired GPU memory utilization is (0.9, "
      "55.14 GiB).\n",
      {});
  EXPECT_EQ(found.at("all_but_cache"), "55.18");
  EXPECT_FALSE(found.contains("card_cache"));
  EXPECT_FALSE(found.contains("load_weights"));  // holds the download
  EXPECT_NE(message("vllm INFO Model loading took 1.14 GiB and 44.1 seconds\n").find("model='…'"),
            std::string::npos);
  EXPECT_NE(message("vllm model='m/n'\nModel loading took long\n").find("no size of the weights"),
            std::string::npos);
}

const Factor* found(const Calibration& c, std::string_view name) {
  for (const FittedConstant& each : c.constants)
    if (each.factor.name == name) return &each.factor;
  return nullptr;
}

TEST(Calibration, BringsKnownConstantsBack) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  const Calibration c = calibrate(known.subjects());
  ASSERT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_NEAR(found(c, "decode_bandwidth")->value, 0.6, 0.6 * 0.03);
  ASSERT_TRUE(found(c, "byte_compute"));
  EXPECT_NEAR(found(c, "byte_compute")->value, 0.3, 0.3 * 0.03);
  EXPECT_EQ(found(c, "decode_bandwidth")->cards, "gddr");
  EXPECT_EQ(found(c, "decode_bandwidth")->width, "4-bit");
  EXPECT_GT(errors_of(c.rows, &FittedRow::before).median, 0.1);
  EXPECT_LT(errors_of(c.rows, &FittedRow::after).median, 0.02);
  EXPECT_LT(errors_of(c.rows, &FittedRow::left_out).median, 0.05);
  EXPECT_TRUE(c.supported());
}

TEST(Calibration, OutliersHaveLittleWeight) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  known.subjects()[0].measured *= 4;
  known.subjects()[7].measured *= 4;
  const Calibration c = calibrate(known.subjects());
  ASSERT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_NEAR(found(c, "decode_bandwidth")->value, 0.6, 0.6 * 0.06);
}

TEST(Calibration, WhatCannotBeToldIsNotFittedAndSaid) {
  Synthetic one({"Llama-2-13b"}, slower);
  auto decode = one.subjects();
  std::erase_if(decode, [](const ScoredRow& s) { return s.group == "prefill"; });
  const Calibration c = calibrate(decode);
  EXPECT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_FALSE(found(c, "kernel_s"));
  EXPECT_FALSE(found(c, "byte_compute"));
  const auto said = std::ranges::find_if(
      c.not_fitted, [](const NotFitted& n) { return n.name == "kernel_s (gddr, 4-bit)"; });
  ASSERT_NE(said, c.not_fitted.end());
  EXPECT_NE(said->why.find("cannot be told apart from decode_bandwidth"), std::string::npos);
  decode.resize(2);
  EXPECT_TRUE(calibrate(decode).constants.empty());
}

// One model's decoding tells one constant: where the bandwidth would have to be more than there is,
// it is the overhead that was less.
TEST(Calibration, WhatRunsIntoItsBoundGivesWayToWhatIsAlike) {
  constexpr double true_overhead = 1e-6;
  Synthetic one({"Llama-2-7b"}, [](model::Engine& r) {
    r.kernels.efficiency[gddr][four].kernel_s.value = true_overhead;
  });
  auto decode = one.subjects();
  std::erase_if(decode, [](const ScoredRow& s) { return s.group == "prefill"; });
  const Calibration c = calibrate(decode);
  EXPECT_FALSE(found(c, "decode_bandwidth"));
  ASSERT_TRUE(found(c, "kernel_s"));
  EXPECT_NEAR(found(c, "kernel_s")->value, true_overhead, 0.1 * true_overhead);
  EXPECT_TRUE(c.supported());
  for (const NotFitted& each : c.not_fitted)
    EXPECT_NE(each.name, "kernel_s (gddr, 4-bit)") << "fitted, and said not to be";
}

TEST(Calibration, NoConstantIsLeftAtTheEndOfWhatIsPossible) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-72B"}, slower);
  for (ScoredRow& each : known.subjects()) each.measured *= 100;
  for (const FittedConstant& each : calibrate(known.subjects()).constants)
    for (const Bounds& bounds : constant_bounds())
      if (bounds.name == each.factor.name) {
        EXPECT_GT(each.factor.value, bounds.low * 1.01) << bounds.name;
        EXPECT_LT(each.factor.value, bounds.high * 0.99) << bounds.name;
      }
}

TEST(Calibration, FasterThanTheHardwareIsImpossible) {
  Synthetic known({"Llama-2-7b"}, slower);
  EXPECT_EQ(impossible(known.subjects()[0]), "");
  known.subjects()[0].measured /= 1000;
  EXPECT_NE(impossible(known.subjects()[0]).find("full rates"), std::string::npos);
}

TEST(FactorProfile, ReadsAsItWasWritten) {
  FactorProfile p;
  p.machine = "1x rtx-4090 @ \"my\" host";
  p.date = "2026-01-02";
  p.files = {"a.csv", "b.json"};
  p.errors = "before";
  p.host.ram_bandwidth = BytesPerSecond(61.5e9);
  p.factors.push_back(
      {"llama.cpp", "decode_bandwidth", "gddr", "4-bit", 0.6, 0.5, 0.7, 12, "a.csv"});
  p.factors.push_back({"llama.cpp", "cpu_bandwidth", "any", "any", 0.5, 0.5, 0.5, 3, "b.json"});
  const FactorProfile q = read_profile(profile_text(p), "p.toml");
  EXPECT_EQ(q.machine, p.machine);
  EXPECT_EQ(q.files, p.files);
  EXPECT_EQ(q.host.ram_bandwidth->value(), 61.5e9);
  EXPECT_FALSE(q.host.disk_read);
  ASSERT_EQ(q.factors.size(), 2u);
  EXPECT_EQ(q.factors[0].cards, "gddr");
  EXPECT_EQ(q.factors[0].value, 0.6);
  EXPECT_EQ(q.factors[0].low, 0.5);
  EXPECT_EQ(q.factors[0].measurements, 12);
}

std::string refused(const std::string& text) {
  try {
    read_profile(text, "p.toml");
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(FactorProfile, WrongOnesAreRefusedByName) {
  const std::string start = "machine = \"m\"\n[[constant]]\nruntime = \"llama.cpp\"\n";
  EXPECT_NE(refused("machine = \"m\"\n").find("no [[constant]]"), std::string::npos);
  EXPECT_NE(refused(start + "name = \"decode_bandwith\"\nvalue = 0.5\n").find("decode_bandwith"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"decode_bandwidth\"\nvalue = -1\n").find("value"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"queue\"\ncards = \"gddr\"\nvalue = 0.5\n").find("every card"),
            std::string::npos);
  EXPECT_NE(refused(start + "name = \"queue\"\nvalue = 0.5\nlow = 0.6\n").find("does not hold"),
            std::string::npos);
  EXPECT_NE(refused("machine = \"m\"\nfile = 3\n").find("file"), std::string::npos);
}

// Versions that nobody measured have constants of their own, which say nothing of the one measured.
TEST(ConstantSearch, StartsFromTheVersionThatWasMeasured) {
  Synthetic known({"Llama-2-7b"}, [](model::Engine&) {});
  std::vector<model::Engine> versions{*known.subjects().front().scenario.runtime};
  versions.push_back(versions.front());
  versions.back().name = "another version";
  for (auto& by_width : versions.back().kernels.efficiency)
    for (model::KernelEfficiency& rates : by_width) rates.decode_bandwidth.value /= 2;
  ConstantSearch search(versions, known.subjects());
  const Unknown unknown{.constant = &constant_named("decode_bandwidth"),
                        .low = 0.02,
                        .high = 1,
                        .cards = static_cast<std::size_t>(model::CardClass::gddr),
                        .width = static_cast<std::size_t>(model::Width::four),
                        .rows = {}};
  const double before = *search.expected(0);
  EXPECT_FALSE(search.affected(unknown).empty());
  EXPECT_EQ(*search.expected(0), before);
  EXPECT_EQ(
      search.get(unknown),
      search.rows()[0].kernels.efficiency[unknown.cards][unknown.width].decode_bandwidth.value);
}

}  // namespace
}  // namespace headroom::sweep
