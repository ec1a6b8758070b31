// Canonical rows of measurements, and the estimates that score them.
#include "sweep/accuracy/measurement.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>

#include "hardware/units.hpp"
#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/engine_versions.hpp"
#include "sweep/accuracy/model_names.hpp"
#include "sweep/accuracy/report.hpp"
#include "sweep/accuracy/row_machine.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep {
namespace {

struct File {
  explicit File(const std::string& text) : path(folder / "measurement_test.csv") {
    std::ofstream(path) << text;
  }
  headroom::test::Folder folder;
  std::string path;
};

constexpr const char* header =
    "id,kind,model,runtime,precision,machine,batch,prompt_tokens,output_tokens,figure,form,value,"
    "unit,outcome,grade,source,missing\n";

Measurement row(std::initializer_list<std::pair<std::string, std::string>> fields) {
  Measurement m;
  for (const auto& [key, value] : fields) m.fields[key] = value;
  return m;
}

TEST(ReadMeasurements, QuotesAndEndings) {
  const File file(
      "\xEF\xBB\xBFid,kind,model,figure,value,grade,source,notes\r\n"
      "1,size,\"a, b\",, 3 ,A,s,\"two\r\nlines \"\"quoted\"\"\"\r\n"
      "2,size,c,,,A,s,\n");
  const auto rows = read_measurements(file.path);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["model"], "a, b");
  EXPECT_EQ(rows[0].number("value"), 3);
  EXPECT_EQ(rows[0]["notes"], "two\r\nlines \"quoted\"");
  EXPECT_EQ(rows[0]["no such column"], "");
  EXPECT_EQ(rows[1].line, 4U);
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
  const std::string prose = message("id,category,model,settings,value,grade,source\n1,,,,,A,s\n");
  EXPECT_NE(prose.find("no column 'kind'"), std::string::npos);
  EXPECT_NE(prose.find("tests/accuracy/normalise.py"), std::string::npos);
  EXPECT_NE(message("id,model,grade,source\n1,a,A,s\n2,b\n").find(":3: 2 fields"),
            std::string::npos);
  EXPECT_THROW(read_measurements("no such file"), std::runtime_error);
}

TEST(ModelReference, AsProgramsAndPeopleSpellIt) {
  for (const auto& [written, found] : {std::pair{"Llama-2-13B", "meta-llama/Llama-2-13b-hf"},
                                       {"Llama 2 70 B", "meta-llama/Llama-2-70b-hf"},
                                       {"Llama3 8B", "meta-llama/Meta-Llama-3-8B"},
                                       {"Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B"},
                                       {"Qwen/Qwen3-32B", "Qwen/Qwen3-32B"},
                                       {"CodeLlama 34 B", "codellama/CodeLlama-34b-hf"},
                                       {"No-Such-Model-9B", "No-Such-Model-9B"}})
    EXPECT_EQ(model_reference(written), found) << written;
  EXPECT_THROW(RowModels("").model("No-Such-Model-9B"), Skipped);
  // 0.49 billion parameters and a tied head, from its model card
  EXPECT_EQ(RowModels("").model(model_reference("Qwen2.5-0.5B-Instruct")).profile.parameters,
            494032768);
}

TEST(EngineVersions, HaveTheRowOfTheirGeneration) {
  EXPECT_EQ(llama_cpp_of(2000, "CUDA"), "llama.cpp-b3120");
  EXPECT_EQ(llama_cpp_of(5210, "CUDA"), "llama.cpp-b6324");
  EXPECT_EQ(llama_cpp_of(7340, "CUDA"), "llama.cpp-b7829");
  EXPECT_EQ(llama_cpp_of(9775, "CUDA"), "llama.cpp-b9775");
  EXPECT_EQ(llama_cpp_of(10760, "CUDA"), "llama.cpp");
  EXPECT_EQ(llama_cpp_of(0, "CUDA"), "llama.cpp");
  EXPECT_EQ(llama_cpp_of(4000, "Vulkan"), "llama.cpp-vulkan-b4282");
  EXPECT_EQ(llama_cpp_of(7340, "Vulkan"), "llama.cpp-vulkan-b9775");
  EXPECT_EQ(llama_cpp_of(7340, "BLAS"), "llama.cpp-blas");
  EXPECT_EQ(vllm_of("v0.6.4"), "vllm-0.6");
  EXPECT_EQ(vllm_of("0.7.2"), "vllm-0.7");
  EXPECT_EQ(vllm_of("0.19.0"), "vllm-0.19");
  EXPECT_EQ(vllm_of(""), "vllm");
  EXPECT_EQ(transformers_of("4.38.2"), "transformers-4.44");
  EXPECT_EQ(transformers_of("4.51.3"), "transformers-4.57");
  EXPECT_EQ(transformers_of("5.0.0"), "transformers");
}

TEST(RowMachine, IsOfItsColumns) {
  const Machine mixed = machine_of(
      row({{"machine", "2x rtx-4090 + 1x rtx-3090"}, {"card_gib", "48 + "}, {"ram_gbs", "51.2"}}));
  ASSERT_EQ(mixed.devices.size(), 3U);
  EXPECT_EQ(mixed.devices[1].memory.count(), 48LL << 30);
  EXPECT_EQ(mixed.devices[2].memory.count(), 24LL << 30);
  EXPECT_EQ(mixed.host.ram_bandwidth.value(), 51.2e9);
  EXPECT_EQ(mixed.host.disk_read.value(), 0) << "not known";
  EXPECT_TRUE(mixed.ram_assumed);
  EXPECT_FALSE(machine_of(row({{"machine", "cpu"}, {"ram_gbs_stated", "yes"}})).ram_assumed);
  EXPECT_THROW(machine_of(row({{"machine", "1x no-such-card"}})), Skipped);
  EXPECT_THROW(machine_of(row({})), Skipped);
  // NVLink ends at the box. Beyond it, each card has 400 Gbit/s (hosts.toml).
  const auto link = [](const std::string& nodes) {
    return machine_of(row({{"machine", "16x h100-sxm-80gb"}, {"nodes", nodes}}))
        .card_link(16)
        .rate.value();
  };
  EXPECT_EQ(link("2"), 50e9);
  EXPECT_GT(link(""), 50e9);
}

TEST(RowMachine, MayBeTheUsersOwn) {
  const Machine own = machine_of(row({{"machine", "1x m2-ultra-192gb"}}));
  const auto on = [&](const char* written) { return machine_of(row({{"machine", written}}), own); };
  EXPECT_EQ(on("1x Apple M2 Ultra").devices.size(), 1U) << "drivers do not say the memory";
  EXPECT_EQ(on("").devices.size(), 1U);
  EXPECT_TRUE(on("cpu").devices.empty());
  EXPECT_THROW(on("2x Apple M2 Ultra"), Skipped);
  EXPECT_THROW(on("1x rtx-4090"), Skipped);
}

TEST(Accuracy, FiguresOfKnownRows) {
  // Llama-2-7B in fp16 has 6,738,415,616 parameters, and 524,288 bytes of cache per token.
  const double weights = 2 * 6738415616.0 / GiB;
  const auto line = [&](const std::string& id, const std::string& tokens, const std::string& figure,
                        double gib, const std::string& missing) {
    return id + ",inference,meta-llama/Llama-2-7b-hf,transformers,float16,1x a100-sxm-80gb,1," +
           tokens + ',' + figure + ",amount," + std::to_string(gib * GiB) + ",bytes,,A,s," +
           missing + '\n';
  };
  const File file(header + line("a", "1,1", "weights", weights, "") +
                  line("b", "512,512", "allocated_held", 2 * (weights + 0.5), "") +
                  line("c", "512,512", "allocated_held", 1, "grade: C") +
                  line("d", "512,512", "none", 14, ""));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.scores.size(), 2U);
  EXPECT_NEAR(accuracy.scores[0].error(), 0, 1e-4);
  EXPECT_NEAR(accuracy.scores[1].error(), -0.5, 1e-3);
  EXPECT_EQ(accuracy.eligible(), 2);
  const auto object = accuracy_object(accuracy);
  EXPECT_EQ(object.at("rows").to_number<int>(), 4);
  EXPECT_EQ(object.at("scored").to_number<int>(), 2);
  ASSERT_EQ(object.at("skipped").as_array().size(), 2U);
  EXPECT_EQ(object.at("skipped").at(0).at("reason").as_string(), "missing grade");
  EXPECT_EQ(object.at("skipped").at(1).at("reason").as_string(), name_of(Skip::statistic));
  const auto& group = object.at("groups").at(0).as_object();
  EXPECT_EQ(group.at("group").as_string(), "inference_memory");
  EXPECT_NEAR(group.at("median").to_number<double>(), 0.25, 1e-3);
  EXPECT_NEAR(group.at("bias").to_number<double>(), -0.25, 1e-3);
  for (const char* key : {"n", "p90", "coverage", "interval_width"})
    EXPECT_TRUE(group.contains(key)) << key;
}

/// Source: XiongjieDai, May 2024, Llama-3-8B. On one A100 SXM it took 0.848 s in F16 and 0.086 s in
/// Q4_K_M, which is first unpacked to 16 bit. On one RTX A6000 it took 0.113 and 0.135 s. Apple's
/// engine does not unpack into memory, so F16 may well be slower.
TEST(Accuracy, OmitsRowsWithLessWorkInTwiceTheTime) {
  const auto line = [](const char* id, const char* precision, const char* gpu, const char* value) {
    return std::string(id) + ",inference,meta-llama/Meta-Llama-3-8B,llama.cpp-b3120," + precision +
           ",1x " + gpu + ",1,512,1,prefill,rate_of_prompt," + value + ",tokens/s,,A,s,\n";
  };
  const File file(
      header + line("a", "gguf-f16", "a100-sxm-80gb", "603.76") +
      line("b", "q4_k_m", "a100-sxm-80gb", "5947.64") +
      line("c", "gguf-f16", "rtx-a6000", "4511.02") + line("d", "q4_k_m", "rtx-a6000", "3780.55") +
      line("e", "gguf-f16", "m1-max-64gb", "100") + line("f", "q4_k_m", "m1-max-64gb", "500"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.scores.size(), 5U);
  EXPECT_EQ((*accuracy.scores[0].row)["id"], "b");
  ASSERT_EQ(accuracy.unscored.size(), 1U);
  EXPECT_EQ((*accuracy.unscored[0].row)["id"], "a");
  EXPECT_FALSE(accuracy.unscored[0].eligible);
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::contradiction));
  EXPECT_NE(accuracy.unscored[0].detail.find("9.9 times"), std::string::npos);
}

/// 4.92 GB of Q4_K_M without the embedding take at least 13 ms at the 360 GB/s of an RTX 3060.
TEST(Accuracy, OmitsRowsFasterThanMemory) {
  const auto line = [](const char* id, const char* cards, const char* value) {
    return std::string(id) + ",inference,meta-llama/Meta-Llama-3-8B,llama.cpp,q4_k_m," + cards +
           "x rtx-3060-12gb,1,1,128,step,rate_of_output," + value + ",tokens/s,,A,s,\n";
  };
  const File file(header + line("a", "1", "70") + line("b", "1", "120") + line("c", "2", "120"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.unscored.size(), 1U);
  EXPECT_EQ((*accuracy.unscored[0].row)["id"], "b");
  EXPECT_FALSE(accuracy.unscored[0].eligible);
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::memory_rate));
}

/// 13.5 GB from a disk of 7 GB/s take at least 1.9 s. Files in the page cache need no disk.
TEST(Accuracy, OmitsLoadsFasterThanTheDisk) {
  const auto line = [](const char* id, const char* figure, const char* value) {
    return std::string(id) +
           ",inference,meta-llama/Llama-2-7b-hf,vllm,fp16,1x h100-sxm-80gb,7,1,1," + "1," + figure +
           ",amount," + value + ",s,A,s\n";
  };
  const File file(
      "id,kind,model,runtime,precision,machine,disk_read_gbs,batch,prompt_tokens,"
      "output_tokens,figure,form,value,unit,grade,source\n" +
      line("a", "load_weights", "5") + line("b", "load_weights", "1.4") +
      line("c", "load_weights_warm", "1.4"));
  const Accuracy accuracy = score({file.path}, "");
  ASSERT_EQ(accuracy.unscored.size(), 1U);
  EXPECT_EQ((*accuracy.unscored[0].row)["id"], "b");
  EXPECT_EQ(accuracy.unscored[0].reason, name_of(Skip::memory_rate));
}

/// Lines of a published log of vLLM 0.20 without prefix caching: 6.56 GiB for 36.91 requests of
/// 4096 tokens. With it a request has 14 blocks, not 11. Memory left grows with the share asked
/// for.
TEST(Accuracy, CacheFiguresAreThoseOfTheLog) {
  const auto scores = [](const std::string& lines) {
    const File file(
        "id,kind,model,runtime,precision,machine,batch,prompt_tokens,output_tokens,"
        "gpu_memory_utilization,figure,form,value,unit,grade,source\n" +
        lines);
    return score({file.path}, "").scores;
  };
  const std::string set_up = ",inference,Qwen/Qwen3.5-9B,vllm,bf16,1x rtx-5090,1,4095,1,";
  const auto found = scores("off" + set_up + ",cache_token:1,amount,46590.8,bytes,A,s\n" + "on" +
                            set_up + ",cache_token,amount,46590.8,bytes,A,s\n" + "less" + set_up +
                            "0.8,cache_left,amount,6e9,bytes,A,s\n" + "more" + set_up +
                            "0.9,cache_left,amount,6e9,bytes,A,s\n" + "all" + set_up +
                            "0.9,concurrency,amount,40,requests,A,s\n");
  ASSERT_EQ(found.size(), 5U);
  EXPECT_NEAR(found[0].error(), 0, 0.005);
  EXPECT_NEAR(found[1].expected, found[0].expected * 14 / 11, 1);
  EXPECT_NEAR(found[3].expected - found[2].expected, 0.1 * 32 * GiB, 0.1 * GiB);
  EXPECT_NEAR(found[4].expected, found[3].expected / found[1].expected / 4096, 0.1);
  EXPECT_EQ(found[4].group, "cache_concurrency");
}

TEST(Accuracy, LabelsAreJudgedOnTheInterval) {
  const auto line = [](const std::string& id, const std::string& model,
                       const std::string& outcome) {
    return id + ",inference,meta-llama/" + model +
           "-hf,transformers,float16,1x rtx-4090,1,511,1,,,,," + outcome + ",A,s,\n";
  };
  // 13 GB of weights fit 24 GiB, 26 GB do not. One label of each model is wrong.
  const File file(header + line("a", "Llama-2-7b", "fits") + line("b", "Llama-2-7b", "oom") +
                  line("c", "Llama-2-13b", "oom") + line("d", "Llama-2-13b", "fits"));
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
