// Tables of measurements as sources write them.
#include "sweep/accuracy/measurement.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/finite_run.hpp"
#include "sweep/accuracy/measurement_names.hpp"
#include "sweep/accuracy/report.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

constexpr double GiB = 1073741824.0;

struct File {
  explicit File(const std::string& text) : path(folder / "measurement_test.csv") {
    std::ofstream(path) << text;
  }
  headroom::test::Folder folder;
  std::string path;
};

constexpr const char* header =
    "id,category,model,precision,task,gpu,gpu_count,batch,prompt_len,output_len,settings,quantity,"
    "unit,value,grade,source\n";

Measurement row(std::initializer_list<std::pair<std::string, std::string>> fields) {
  Measurement m;
  for (const auto& [key, value] : fields) m.fields[key] = value;
  return m;
}

TEST(ReadMeasurements, QuotesEndingsAndSettings) {
  const File file(
      "\xEF\xBB\xBFid,model,settings,grade,source,notes\r\n"
      "1,\"a, b\",tp=4;compile; x = y z ,A,s,\"two\r\nlines \"\"quoted\"\"\"\r\n"
      "2,c,,A,s,\n");
  const auto rows = read_measurements(file.path);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["model"], "a, b");
  EXPECT_EQ(rows[0].setting("tp"), "4");
  EXPECT_EQ(rows[0].setting("compile"), "");
  EXPECT_EQ(rows[0].setting("x"), "y z");
  EXPECT_FALSE(rows[0].setting("pp").has_value());
  EXPECT_EQ(rows[0]["notes"], "two\r\nlines \"quoted\"");
  EXPECT_EQ(rows[0]["no such column"], "");
  EXPECT_EQ(rows[1].line, 4U);
}

TEST(Words, OfPrecisionsMeanWhatTheEngineHolds) {
  const model::Model& model = headroom::test::catalogue_model("Qwen/Qwen3-8B");
  const auto of = [&](const char* word, const char* engine) {
    return &scheme_of(row({{"precision", word}}), model, model::engine(engine));
  };
  EXPECT_EQ(of("FP8", "transformers-4.57"), &model::scheme("fp8-block"));
  EXPECT_EQ(of("FP8", "vllm"), &model::scheme("fp8"));
  EXPECT_EQ(of("fp4", "tensorrt-llm"), &model::scheme("nvfp4"));
  EXPECT_EQ(of("fp4", "transformers-4.57"), &model::scheme("fp4"));
}

TEST(Words, OfSglangSayWhichVersionItIs) {
  const auto version = [](const char* settings) {
    return version_of(row({{"settings", settings}}), "sglang");
  };
  EXPECT_EQ(version("framework=SGLang 0.4.6.post1"), "sglang-0.4");
  EXPECT_EQ(version("framework=SGLang 0.4.9"), "sglang");
  EXPECT_EQ(version("framework=sglang 0.5.10.post1"), "sglang");
}

TEST(Words, OfTransformersSayWhichVersionItIs) {
  const auto version = [](const char* precision, const char* settings) {
    return version_of(row({{"precision", precision}, {"settings", settings}}), "transformers");
  };
  const char* of_2025 = "framework=transformers 4.51.3 torch 2.6 flash-attn 2.7.4";
  EXPECT_EQ(version("BF16", of_2025), "transformers-4.57");
  EXPECT_EQ(version("AWQ-INT4", of_2025), "transformers-4.57-fa2");
  EXPECT_EQ(version("AWQ", "framework=Transformer;torch 2.3.1 flash-attn 2.5.8;"),
            "transformers-4.47");
  EXPECT_EQ(version("AWQ", "framework=Transformer;torch 2.1.2 transformers 4.38.2"),
            "transformers-4.44");
  EXPECT_EQ(version("bf16", "framework=transformers, flash-attn 2, torch 2.0.1"),
            "transformers-4.35");
  EXPECT_EQ(version("bf16", "framework=transformers"), "transformers-4.57");
}

TEST(ReadMeasurements, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    const File file(text);
    try {
      read_measurements(file.path);
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message("id,model\n1,a\n").find("no column 'grade'"), std::string::npos);
  EXPECT_NE(message("id,model,grade,source\n1,a,A,s\n2,b\n").find(":3: 2 fields"),
            std::string::npos);
  EXPECT_THROW(read_measurements("no such file"), std::runtime_error);
}

TEST(ModelNames, AsSourcesWriteThem) {
  ModelNames names("");
  for (const auto& [written, found] : {std::pair{"Llama-2-13B", "meta-llama/Llama-2-13b-hf"},
                                       {"Llama2-70B", "meta-llama/Llama-2-70b-hf"},
                                       {"Llama 2 70 B", "meta-llama/Llama-2-70b-hf"},
                                       {"Llama3 8B", "meta-llama/Meta-Llama-3-8B"},
                                       {"Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B"},
                                       {"Qwen/Qwen3-32B", "Qwen/Qwen3-32B"},
                                       {"CodeLlama 34 B", "codellama/CodeLlama-34b-hf"},
                                       {"GLM-5.2 (~700B)", "zai-org/GLM-5.2"}})
    EXPECT_EQ(names.model(written).name, found) << written;
  EXPECT_THROW(names.model("No-Such-Model-9B"), Skipped);
  // 0.49 billion, tied: its model card
  EXPECT_EQ(names.model("Qwen2.5-0.5B-Instruct").profile.parameters, 494032768);
}

TEST(MachineOf, AsSourcesWriteThem) {
  const auto first = [](const std::string& gpu, const std::string& memory = "") {
    return machine_of(row({{"gpu", gpu}, {"gpu_count", "1"}, {"gpu_memory_gb", memory}}))
        .devices[0];
  };
  for (const auto& [written, found] : {std::pair{"NVIDIA A100 80GB", "a100-sxm-80gb"},
                                       {"A100 80GB (330W limit)", "a100-sxm-80gb"},
                                       {"NVIDIA Titan RTX 24GB", "titan-rtx"},
                                       {"3080 10GB", "rtx-3080-10gb"},
                                       {"b200_sxm", "b200-sxm-180gb"},
                                       {"M2 Ultra 76-Core GPU 192GB", "m2-ultra-192gb"},
                                       {"M1 Max 32\xE2\x80\x91"
                                        "Core GPU 64GB",
                                        "m1-max-64gb"},
                                       {"RTX 6000 Ada Generation", "rtx-6000-ada"}})
    EXPECT_EQ(first(written).name, found) << written;
  EXPECT_EQ(first("M3 10-core GPU", "16").name, "m3-16gb");
  // A card with exchanged memory, and a driver's own figure.
  EXPECT_EQ(first("RTX 4090 48GB").memory.count(), 48LL << 30);
  EXPECT_NEAR(first("H100 (79.18 GiB)").memory.real().value(), 79.18 * GiB, 1);
  const auto mixed = machine_of(row({{"gpu", "RTX 4090 + RTX 3090 Ti"}, {"gpu_count", "2"}}));
  ASSERT_EQ(mixed.devices.size(), 2U);
  EXPECT_EQ(mixed.devices[1].name, "rtx-3090-ti");
  EXPECT_THROW(first("NVIDIA (not stated)"), Skipped);
  // NVLink ends at the box; 400 Gbit/s beyond, of each card (hosts.toml).
  const auto link = [](const std::string& settings) {
    return machine_of(
               row({{"gpu", "NVIDIA H100 SXM 80GB"}, {"gpu_count", "16"}, {"settings", settings}}))
        .card_link(16)
        .value();
  };
  EXPECT_EQ(link("SGLang 0.4.9;tp=16;pp=1;2 nodes;InfiniBand"), 50e9);
  EXPECT_GT(link("tp=16;pp=1"), 50e9);
  EXPECT_TRUE(machine_of(row({{"gpu", "none (CPU only)"}, {"gpu_count", "0"}})).devices.empty());
  EXPECT_NEAR(machine_of(row({{"gpu", ""}, {"cpu", "Ryzen 7 5800X; 2x DDR4-2133"}}))
                  .host.ram_bandwidth.value(),
              2 * 2133e6 * 8, 1);
}

TEST(Accuracy, FiguresOfKnownRows) {
  // Llama-2-7B in fp16: 6,738,415,616 parameters; 524,288 bytes of cache a token.
  const double weights = 2 * 6738415616.0 / GiB;
  const std::string start = ",inference_memory,Llama-2-7B,fp16,inference,NVIDIA A100 80GB,1,1,";
  const auto line = [&](const std::string& id, const std::string& rest) {
    return id + start + rest + ",s\n";
  };
  const File file(
      header +
      line("a", ",,framework=transformers,weights_size,GiB," + std::to_string(weights) + ",A") +
      line("b", "512,512,framework=transformers,gpu_memory,GiB," +
                    std::to_string(2 * (weights + 0.5)) + ",A") +
      line("c", "512,512,framework=transformers,gpu_memory,GiB,1,C") +
      line("d", ",512,framework=transformers,gpu_memory,GiB,14,A") +
      line("e", "512,512,framework=Petals,gpu_memory,GiB,14,A"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.scores.size(), 2U);
  EXPECT_NEAR(accuracy.scores[0].error(), 0, 1e-4);
  EXPECT_NEAR(accuracy.scores[1].error(), -0.5, 1e-3);
  EXPECT_EQ(accuracy.eligible(), 2);
  const auto object = accuracy_object(accuracy);
  EXPECT_EQ(object.at("rows").to_number<int>(), 5);
  EXPECT_EQ(object.at("scored").to_number<int>(), 2);
  ASSERT_EQ(object.at("skipped").as_array().size(), 3U);
  EXPECT_EQ(object.at("skipped").at(0).at("reason").as_string(), name_of(Skip::grade));
  EXPECT_EQ(object.at("skipped").at(1).at("reason").as_string(), name_of(Skip::setting));
  EXPECT_EQ(object.at("skipped").at(2).at("reason").as_string(), name_of(Skip::runtime));
  const auto& group = object.at("groups").at(0).as_object();
  EXPECT_EQ(group.at("group").as_string(), "inference_memory");
  EXPECT_NEAR(group.at("median").to_number<double>(), 0.25, 1e-3);
  EXPECT_NEAR(group.at("bias").to_number<double>(), -0.25, 1e-3);
  for (const char* key : {"n", "p90", "coverage", "interval_width"})
    EXPECT_TRUE(group.contains(key)) << key;
}

/// XiongjieDai, May 2024: Llama-3-8B on one A100 SXM took 0.848 s in F16 and 0.086 s in Q4_K_M,
/// which is unpacked to 16 bit first; on one RTX A6000 0.113 and 0.135 s. On Apple nothing is
/// unpacked into memory, and F16 may well be slower.
TEST(Accuracy, WhatDoesLessInTwiceTheTimeIsLeftOut) {
  const auto line = [](const char* id, const char* precision, const char* gpu, const char* value) {
    return std::string(id) + ",decode_speed,Llama-3-8B," + precision + ",prefill," + gpu +
           ",1,1,512,0,framework=llama.cpp llama-bench May 2024,prefill_speed,tokens/s," + value +
           ",A,s\n";
  };
  const File file(header + line("a", "F16", "A100 SXM 80GB", "603.76") +
                  line("b", "Q4_K_M", "A100 SXM 80GB", "5947.64") +
                  line("c", "F16", "RTX A6000 48GB", "4511.02") +
                  line("d", "Q4_K_M", "RTX A6000 48GB", "3780.55") +
                  line("e", "F16", "M1 Max 64GB", "100") +
                  line("f", "Q4_K_M", "M1 Max 64GB", "500"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.scores.size(), 5U);
  EXPECT_EQ((*accuracy.scores[0].row)["id"], "b");
  ASSERT_EQ(accuracy.unscored.size(), 1U);
  EXPECT_EQ((*accuracy.unscored[0].row)["id"], "a");
  EXPECT_FALSE(accuracy.unscored[0].eligible);
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::contradiction));
  EXPECT_NE(accuracy.unscored[0].detail.find("9.9 times"), std::string::npos);
}

/// 4.92 GB of Q4_K_M less the embedding at the 360 GB/s of an RTX 3060: 13 ms at least.
TEST(Accuracy, WhatIsFasterThanMemoryIsLeftOut) {
  const auto line = [](const char* id, const char* gpus, const char* value) {
    return std::string(id) + ",decode_speed,Llama-3-8B,Q4_K_M,decode,RTX 3060 12GB," + gpus +
           ",1,1,128,framework=llama.cpp,decode_speed,tokens/s," + value + ",A,s\n";
  };
  const File file(header + line("a", "1", "70") + line("b", "1", "120") + line("c", "2", "120"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.unscored.size(), 1U);
  EXPECT_EQ((*accuracy.unscored[0].row)["id"], "b");
  EXPECT_FALSE(accuracy.unscored[0].eligible);
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::memory_rate));
}

/// A serving table that names kernels has what it leaves out as published; what is spread over
/// copies whose number nobody says is not read.
TEST(Accuracy, ServingTablesAreReadByTheirKernelsAndTheNamesOfTheirRuns) {
  const auto line = [](const char* id, const char* precision, const char* settings,
                       const char* notes) {
    return std::string(id) + ",decode_speed,meta-llama/Llama-3.1-8B-Instruct," + precision +
           ",serving TPOT,h100_sxm,1,8,1024,128,framework=trtllm 1.0;tp=1;" + settings +
           ",tpot,ms,7.94,A,s," + notes + "\n";
  };
  std::string with_notes = header;
  with_notes.insert(with_notes.size() - 1, ",notes");
  const File file(with_notes + line("a", "not stated", "gemm=", "agg_1024x128_c8_tp1") +
                  line("b", "bf16", "gemm=", "agg_1024x128_c8_tp1") +
                  line("c", "not stated", "moe_ep=1", "agg_1024x128_c8_tp1") +
                  line("d", "bf16", "moe_ep=0;gemm=", "agg_1024x128_c32_tp1") +
                  line("e", "bf16", "moe_ep=4;gemm=", "agg_1024x128_c32_tp1"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.scores.size(), 3U);
  EXPECT_EQ(accuracy.scores[0].expected, accuracy.scores[1].expected) << "bf16, as published";
  EXPECT_EQ((*accuracy.scores[2].row)["id"], "e");
  ASSERT_EQ(accuracy.unscored.size(), 2U);
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::precision));
  EXPECT_EQ(accuracy.unscored[1].reason, name_of(Skip::setting));
}

/// vLLM's tables leave out what caches are held in: it follows from who made the checkpoint, and
/// from the card.
TEST(Accuracy, CachesOfServingTablesAreThoseOfTheCheckpoint) {
  const auto line = [](const char* model, const char* gpu, const char* settings) {
    return std::string("a,decode_speed,") + model + ",fp8,serving TPOT," + gpu +
           ",1,32,8192,1024,framework=vllm 0.19;tp=1;gemm=fp8" + settings + ",tpot,ms,40,A,s\n";
  };
  const auto same_as = [&](const char* model, const char* gpu, const char* settings) {
    const File file(header + line(model, gpu, "") + line(model, gpu, settings));
    const Accuracy accuracy = score({file.path}, "");
    return accuracy.scores.at(0).expected == accuracy.scores.at(1).expected;
  };
  constexpr auto llama = "meta-llama/Llama-3.1-8B-Instruct", own = "Qwen/Qwen3-32B-FP8";
  EXPECT_TRUE(same_as(llama, "b200_sxm", ";kv=fp8"));
  EXPECT_FALSE(same_as(llama, "b200_sxm", ";kv=fp16"));
  EXPECT_TRUE(same_as(llama, "h100_sxm", ";kv=fp16"));
  EXPECT_TRUE(same_as(own, "b200_sxm", ";kv=fp16"));
}

/// Rows say in words what an engine was built for and of which time it is.
TEST(Engine, FollowsFromTheWordsOfARow) {
  const auto of = [](const char* settings, const char* notes = "", const char* source = "") {
    Measurement m = row({{"settings", settings}, {"notes", notes}, {"source", source}});
    m.settings = settings_of(settings);
    return std::string(version_of(m, engine_of(m).runtime));
  };
  EXPECT_EQ(of("framework=llama.cpp;fa=1;CUDA"), "llama.cpp");
  EXPECT_EQ(of("framework=llama.cpp;fa=0;Vulkan build 7340"), "llama.cpp-vulkan");
  EXPECT_EQ(of("framework=llama.cpp b4000;backend=Vulkan"), "llama.cpp-vulkan-b4282");
  EXPECT_EQ(of("framework=llama.cpp;fa=0;Vulkan mar 2024"), "llama.cpp-vulkan-b4282");
  EXPECT_EQ(of("framework=llama.cpp 2024;ngl=99;Vulkan"), "llama.cpp-vulkan-b4282");
  EXPECT_EQ(of("framework=llama.cpp 2024;Vulkan", "master of Dec 2024"), "llama.cpp-vulkan");
  EXPECT_EQ(of("framework=llama.cpp may 2024;fa=0"), "llama.cpp-b3120");
  EXPECT_EQ(of("framework=llama.cpp b5210"), "llama.cpp-b6324");
  EXPECT_EQ(of("framework=llama.cpp", "BLAS build: layers of the CPU stay there"),
            "llama.cpp-blas");
  EXPECT_EQ(of("framework=ik_llama.cpp oct 2025;fa=1"), "ik_llama.cpp");
  EXPECT_EQ(of("framework=ik_llama.cpp;backend=CUDA+BLAS"), "ik_llama.cpp-blas");
  EXPECT_EQ(of("framework=exllama v1;Aug 2023"), "exllama-1");
  EXPECT_EQ(of("framework=exllama v1 may 2023"), "exllama-1");
  EXPECT_EQ(of("framework=Exllama V2;PCIe only"), "exllama");
  EXPECT_EQ(of("framework=exllamav2 (early)", "", "github:turboderp/exllamav2@b9c025b"), "exllama");
  EXPECT_EQ(of("framework=vLLM 0.2"), "vllm-0.2");
  EXPECT_EQ(of("framework=vLLM"), "vllm");
  EXPECT_EQ(of("framework=vLLM 2023;PCIe only"), "vllm-0.2");
  EXPECT_EQ(of("framework=Llama.cpp 2023;PCIe only"), "llama.cpp-b3120");
  EXPECT_EQ(of("framework=vLLM", "", "github.com/vllm-project/vllm/issues/2000"), "vllm-0.2");
  EXPECT_EQ(of("framework=vLLM", "", "github.com/vllm-project/vllm/issues/3000"), "vllm-0.5");
}

TEST(Engine, OfAutoAwqGoesByTheKernelsThatTheCheckpointIsPackedFor) {
  const auto of = [](const char* precision) {
    const Measurement m = row({{"precision", precision}});
    return std::string(version_of(m, "autoawq"));
  };
  EXPECT_EQ(of("AWQ 4bit g128 GEMV"), "autoawq-gemv");
  EXPECT_EQ(of("AWQ 4bit g128 GEMM"), "autoawq");
  EXPECT_EQ(of("AWQ-4bit-128g"), "autoawq");
}

TEST(Engine, IsToldWhatARowSaysOfItsOptions) {
  const auto told = [](const char* settings) {
    Measurement m = row({{"settings", settings}});
    m.settings = settings_of(settings);
    return std::pair(flash_attention_of(m), threads_of(m));
  };
  using enum model::Override;
  EXPECT_EQ(told("framework=llama.cpp;fa=0;threads=16"), std::pair(off, Size{16}));
  EXPECT_EQ(told("framework=llama.cpp;fa;kv=q4_0"), std::pair(on, Size{0}));
  EXPECT_EQ(told("framework=llama-bench (no flash attention)"), std::pair(off, Size{0}));
  EXPECT_EQ(told("framework=kt-kernel;84 threads"), std::pair(engine_default, Size{84}));
}

/// Outputs of ShareGPT differ, so that a run ends with few of them; of others nothing is known.
TEST(FiniteRun, SaysHowManyRequestsItHas) {
  const auto requests = [](const char* settings, const char* notes) {
    return requests_of_run(row({{"settings", settings}, {"notes", notes}}), 256).value_or(0);
  };
  EXPECT_EQ(requests("framework=vLLM v0.9.2;1000 ShareGPT prompts at once", ""), 1000);
  EXPECT_EQ(requests("framework=vLLM", "ShareGPT, 1000 prompts at once"), 1000);
  EXPECT_EQ(requests("framework=vLLM", "ShareGPT 100 prompts"), 256) << "no fewer than at once";
  EXPECT_EQ(requests("framework=vLLM", "all prompts at once; 984 of 1000 succeeded; ShareGPT"),
            256);
  EXPECT_EQ(requests("framework=vLLM", "ShareGPT, means from totals"), 0);
  EXPECT_EQ(requests("framework=vLLM", "random 4K input, 100 prompts"), 0);
}

TEST(Accuracy, LabelsAreJudgedOnTheInterval) {
  const std::string head =
      "id,kind,model,precision,gpu,gpu_count,gpu_memory_gb,batch,context,settings,outcome,quantity,"
      "value,grade,source\n";
  const auto line = [](const std::string& id, const std::string& model,
                       const std::string& outcome) {
    return id + ",inference," + model + ",fp16,RTX 4090,1,24,1,512,framework=transformers," +
           outcome + ",,,A,s\n";
  };
  // 13 GB of weights fit 24 GiB, 26 GB do not; one label of each is wrong.
  const File file(head + line("a", "Llama-2-7B", "fits") + line("b", "Llama-2-7B", "oom") +
                  line("c", "Llama-2-13B", "oom") + line("d", "Llama-2-13B", "fits"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.labels.size(), 4U);
  const LabelFigures all = accuracy.label_groups().at(0);
  EXPECT_EQ(all.n, 4);
  EXPECT_DOUBLE_EQ(all.marginal, 0);
  EXPECT_DOUBLE_EQ(all.wrong_sure, 0.5);
  EXPECT_DOUBLE_EQ(all.precision, 0.5);
  EXPECT_DOUBLE_EQ(all.recall, 0.5);
}

}  // namespace
}  // namespace headroom::sweep
