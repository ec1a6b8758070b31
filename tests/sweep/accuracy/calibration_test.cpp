// Calibration. All output formats of a benchmark give the same values. Known constants are
// recovered, constants that the data does not determine are not fitted, and a profile survives a
// round trip.
#include "tests/sweep/accuracy/calibration_fixture.hpp"

namespace headroom::sweep {
namespace {

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

/// A name that the catalogue knows, too, means the config that the user has under it.
TEST(MeasuredFile, OwnConfigsComeFirst) {
  const std::string file = written(
      "own.json",
      R"({"backend": "vllm", "model_id": "vicuna-7b-v1.5", "completed": 8, "total_input_tokens": 800,)"
      R"( "total_output_tokens": 80, "max_concurrency": 1, "mean_ttft_ms": 90.0, "output_throughput": 48.5})");
  const std::string own = written("vicuna-7b-v1.5.json", "{}");
  RowDefaults defaults;
  EXPECT_EQ(read_measured(file, defaults).rows[0]["model"], "meta-llama/Llama-2-7b-hf");
  defaults.models = std::filesystem::path(own).parent_path().string();
  EXPECT_EQ(read_measured(file, defaults).rows[0]["model"], "vicuna-7b-v1.5");
}

/// vLLM's benchmark also measures other servers, and runs in which no request completed.
TEST(MeasuredFile, ABenchmarkIsOfVllmAndHasCompletedRequests) {
  const auto message = [](const std::string& keys) -> std::string {
    const std::string file =
        written("serving.json",
                "{" + keys +
                    R"( "model_id": "Qwen/Qwen2.5-7B", "num_prompts": 8, "max_concurrency": 1,)"
                    R"( "total_input_tokens": 800, "total_output_tokens": 80,)"
                    R"( "mean_ttft_ms": 90.0, "output_throughput": 48.5})");
    try {
      read_measured(file, {});
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return {};
  };
  for (const char* fine : {R"("backend": "openai-chat",)", R"("endpoint_type": "vllm",)",
                           R"("backend": "vllm", "endpoint_type": "openai", "completed": 7,)"})
    EXPECT_EQ(message(fine), "") << fine;
  for (const auto& [keys, fragment] :
       {std::pair{R"("backend": "tgi",)", "key 'backend': found 'tgi', expected vllm, openai"},
        {R"("endpoint_type": "openai-embeddings",)", "found 'openai-embeddings', expected vllm"},
        {R"("backend": {},)", "found '{}', expected vllm"},
        {"", "names no server"},
        {R"("backend": "vllm", "completed": 0,)", "needs completed"},
        {R"("backend": "vllm", "completed": -8,)", "key 'completed': found '-8'"},
        {R"("backend": "vllm", "completed": [],)", "key 'completed': found '[]'"},
        {R"("backend": "vllm", "duration": "long",)", "key 'duration': found 'long'"}})
    EXPECT_NE(message(keys).find(fragment), std::string::npos) << keys << message(keys);
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

TEST(MeasuredFile, NamesUnknownInput) {
  EXPECT_NE(message("").find("empty"), std::string::npos);
  EXPECT_NE(message("[{\"a\": 1").find("cut off"), std::string::npos);
  EXPECT_NE(message("[]").find("no rows"), std::string::npos);
  EXPECT_NE(message("{\"a\": 1}").find("expected output of llama-bench"), std::string::npos);
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

/// The figures of a vLLM start log by name, in GiB or seconds.
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

// Lines copied from a log show the engine's messages, but not always the program.
TEST(VllmLog, WithoutTheNameOfTheProgram) {
  const auto found = figures_of(
      "INFO Initializing a V1 LLM engine with config: model='gpt2', dtype=torch.bfloat16, "
      "max_seq_len=1024, tensor_parallel_size=1\nINFO Model loading took 0.24 GiB and 0.5 seconds\n"
      "INFO Available KV cache memory: 19.31 GiB\nGPU KV cache size: 562,000 tokens\n"
      "Maximum concurrency for 1,024 tokens per request: 548.8x\n",
      {});
  EXPECT_EQ(found.at("card_weights:0"), "0.24");
}

// Source: a run with Llama-3.1-8B on an RTX 3090, github.com/vllm-project/vllm/issues/10517.
// Everything but the cache takes 23.58 GiB x 0.9 - 3.81 GiB. The 1,952 blocks of 16 tokens hold
// 1.5616 sequences.
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

// Source: output of 0.8, github.com/kubernetes-sigs/gateway-api-inference-extension/pull/550.
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
  EXPECT_FALSE(found.contains("card_cache"));  // the log does not give the number of sequences
}

// Source: github.com/vllm-project/vllm/issues/21348, 8.11 GiB for 178,880 tokens on each of four
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
  EXPECT_FALSE(found.contains("all_but_cache"));  // the log does not give the card's memory
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("no memory of the card"), std::string::npos);
  EXPECT_NE(notes[1].find("0.31 GiB"), std::string::npos);
  const RowDefaults with_card{{}, {}, Bytes(Size{80} << 30)};
  EXPECT_EQ(figures_of(log, with_card).at("all_but_cache"), "63.89");  // 80 * 0.9 - 8.11
  const MeasuredFile file = read_measured(written("second.log", log), {});
  EXPECT_EQ(file.rows[0]["tp"], "4");
  EXPECT_EQ(file.rows[0]["kv_precision"], "fp8_e5m2");
  EXPECT_EQ(file.rows[0]["precision"], "fp8");
  std::string e4m3 = log;  // newer versions print this for a checkpoint that states FP8
  e4m3.replace(e4m3.find("fp8_e5m2"), 8, "fp8_e4m3");
  EXPECT_EQ(read_measured(written("e4m3.log", e4m3), {}).rows[0]["kv_precision"], "fp8");
  // The arguments show options that were set. A later start replaces an earlier one.
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
  EXPECT_FALSE(found.contains("load_weights"));  // includes the download
  EXPECT_NE(message("vllm INFO Model loading took 1.14 GiB and 44.1 seconds\n").find("model='…'"),
            std::string::npos);
  EXPECT_NE(message("vllm model='m/n'\nModel loading took long\n").find("no size of the weights"),
            std::string::npos);
}

}  // namespace
}  // namespace headroom::sweep
