// Calibration: every form of a benchmark's output says the same, constants that are known come out
// again, what cannot be told is not fitted, and a profile reads as it was written.
#include "sweep/calibration.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "sweep/measured_file.hpp"
#include "sweep/prediction.hpp"
#include "tests/support/folder.hpp"

namespace headroom::sweep::test {
namespace {

namespace fs = std::filesystem;

std::string bench(const std::string& name) {
  return HEADROOM_SOURCE "/tests/cli/data/bench/" + name;
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
  EXPECT_EQ(prompt["model"], "Qwen2.5-7B-Instruct");
  EXPECT_EQ(prompt["precision"], "q4_k_m");
  EXPECT_EQ(prompt["quantity"], "prefill_speed");
  EXPECT_EQ(prompt["prompt_len"], "512");
  EXPECT_EQ(prompt["gpu"], "NVIDIA GeForce RTX 4080");
  EXPECT_EQ(prompt.setting("ngl"), "99");
  EXPECT_EQ(csv.rows[4]["prompt_len"], "512");  // decode at a depth
  const MeasuredFile json = read_measured(bench("rtx-4080.json"), {});
  EXPECT_EQ(json.format, "llama-bench json");
  ASSERT_EQ(json.rows.size(), 2u);
  for (const auto column : {"model", "precision", "quantity", "prompt_len", "gpu", "settings"})
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
    for (const auto column : {"model", "precision", "quantity", "value", "prompt_len"})
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
  EXPECT_NE(message("model,quantity,unit,value\n").find("a header and no rows"), std::string::npos);
  EXPECT_NE(message("model,quantity,unit,value\ngpt2,,tokens/s,3\n").find("no quantity"),
            std::string::npos);
  EXPECT_NE(message("quantity,unit,value\nram_bandwidth,MB,3\n").find("GB/s"), std::string::npos);
}

TEST(MeasuredFile, ServingAndHostsAndThePlainForm) {
  const MeasuredFile serving = read_measured(bench("serving.json"), {});
  ASSERT_EQ(serving.rows.size(), 3u);
  EXPECT_EQ(serving.rows[1]["quantity"], "tpot");
  EXPECT_EQ(serving.rows[1]["batch"], "16");
  EXPECT_EQ(serving.rows[1]["prompt_len"], "512");
  EXPECT_EQ(serving.rows[1]["output_len"], "128");
  const MeasuredFile log = read_measured(
      written("vllm.log",
              "INFO vllm/engine: Initializing a V1 LLM engine (v0.19.0) with config: "
              "model='Qwen/Qwen2.5-7B', dtype=torch.bfloat16, tensor_parallel_size=2, "
              "quantization=None\nINFO Model loading took 7.1255 GiB and 3.2 seconds\n"),
      {});
  ASSERT_EQ(log.rows.size(), 1u);
  EXPECT_EQ(log.rows[0]["model"], "Qwen/Qwen2.5-7B");
  EXPECT_EQ(log.rows[0]["value"], "7.1255");
  EXPECT_EQ(log.rows[0].setting("tp"), "2");
  const MeasuredFile plain = read_measured(
      written("plain.csv",
              "model,precision,framework,quantity,unit,value\n"
              ",,,ram_bandwidth,GB/s,61.5\ngpt2,fp16,transformers,decode_speed,tokens/s,50\n"),
      {});
  EXPECT_EQ(plain.host.ram_bandwidth->value(), 61.5e9);
  ASSERT_EQ(plain.rows.size(), 1u);
  EXPECT_EQ(plain.rows[0].setting("framework"), "transformers");
}

/// Rows of llama-bench on one card, with speeds under constants that are changed by `change`.
class Synthetic {
 public:
  Synthetic(const std::vector<std::string>& models, void (*change)(model::Runtime&))
      : subjects_("") {
    for (const auto& model : models)
      for (const int tokens : {64, 128, 512}) {
        add(model, "decode_speed", tokens);
        add(model, "prefill_speed", tokens);
      }
    for (auto& row : rows_) all_.push_back(subjects_.subject(*row));
    std::vector<model::Runtime> changed;
    for (const Subject& each : all_) changed.push_back(*each.scenario.runtime);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      change(changed[i]);
      Subject other = all_[i];
      other.scenario.runtime = &changed[i];
      std::string why;
      all_[i].measured = predict(other, why)->expected;
    }
  }
  std::vector<Subject>& subjects() { return all_; }

 private:
  void add(const std::string& model, const std::string& quantity, int tokens) {
    rows_.push_back(std::make_unique<Measurement>(
        measurement_of({{"id", std::to_string(rows_.size())},
                        {"category", "decode_speed"},
                        {"model", model},
                        {"precision", "q4_0"},
                        {"task", "decode"},
                        {"gpu", "NVIDIA GeForce RTX 4090"},
                        {"gpu_count", "1"},
                        {"batch", "1"},
                        {"prompt_len", std::to_string(tokens)},
                        {"output_len", "64"},
                        {"settings", "framework=llama.cpp b6400;ngl=99;fa=1"},
                        {"quantity", quantity},
                        {"unit", "tokens/s"},
                        {"value", "12.34"},
                        {"grade", "A"}})));
  }
  Subjects subjects_;
  std::vector<std::unique_ptr<Measurement>> rows_;
  std::vector<Subject> all_;
};

constexpr auto gddr = static_cast<std::size_t>(model::CardClass::gddr);
constexpr auto four = static_cast<std::size_t>(model::Width::four);

void slower(model::Runtime& r) {
  r.rates[gddr][four].decode_bandwidth.value = 0.6;
  r.rates[gddr][four].prefill_compute.value = 0.3;
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
  ASSERT_TRUE(found(c, "prefill_compute"));
  EXPECT_NEAR(found(c, "prefill_compute")->value, 0.3, 0.3 * 0.03);
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
  std::erase_if(decode, [](const Subject& s) { return s.group == "prefill"; });
  const Calibration c = calibrate(decode);
  EXPECT_TRUE(found(c, "decode_bandwidth"));
  EXPECT_FALSE(found(c, "layer_overhead_s"));
  EXPECT_FALSE(found(c, "prefill_compute"));
  const auto said = std::ranges::find_if(
      c.not_fitted, [](const NotFitted& n) { return n.name == "layer_overhead_s (gddr, 4-bit)"; });
  ASSERT_NE(said, c.not_fitted.end());
  EXPECT_NE(said->why.find("cannot be told apart from decode_bandwidth"), std::string::npos);
  decode.resize(2);
  EXPECT_TRUE(calibrate(decode).constants.empty());
}

TEST(Calibration, NoConstantIsLeftAtTheEndOfWhatIsPossible) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-72B"}, slower);
  for (Subject& each : known.subjects()) each.measured *= 100;
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

}  // namespace
}  // namespace headroom::sweep::test
