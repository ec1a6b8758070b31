// Engines from TOML: inherited constants, overridden constants, and refusals.
#include "model/engine/engine_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "hardware/text_file.hpp"
#include "model/engine/engine_fields.hpp"
#include "model/engine/engine_record.hpp"
#include "model/engine/measured_constants.hpp"
#include "model/engine/policy_rows.hpp"
#include "tests/support/paths.hpp"

namespace headroom::model {
namespace {

std::vector<Engine> shipped() { return {engines().begin(), engines().end()}; }

/// The last row of `shipped` and `toml`.
Engine read_engine(std::string_view toml) {
  std::vector<Engine> rows = shipped();
  read_engines(rows, toml, "mine.toml");
  return rows.back();
}

std::string engine_refusal(std::string_view toml) {
  try {
    (void)read_engine(toml);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "accepted";
}

const std::string row_head = "[[engine]]\nname = \"mine\"\nversion = \"1\"\nsource = \"notes\"\n";

TEST(EngineRows, InheritFieldsAndMeasuredConstants) {
  const Engine mine = read_engine(row_head + "inherits = \"vllm\"\ncache.block_tokens = 32\n");
  const Engine& vllm = engine("vllm");
  EXPECT_EQ(mine.cache.block_tokens, 32);
  EXPECT_EQ(mine.cache.windows, vllm.cache.windows);
  EXPECT_EQ(mine.family, "vllm");
  EXPECT_EQ(mine.generation, "vllm");
  EXPECT_GT(mine.memory.context_bytes.measurements, 0);
  EXPECT_EQ(mine.memory.context_bytes.value, vllm.memory.context_bytes.value);
}

TEST(EngineRows, KernelConstantAppliesToEveryCell) {
  const Engine mine =
      read_engine(row_head + "inherits = \"vllm\"\nkernels.kernel_s = [1e-6, 5e-7, 2e-6]\n");
  for (const auto& by_width : mine.kernels.efficiency)
    for (const KernelEfficiency& rates : by_width) {
      EXPECT_EQ(rates.kernel_s.value, 1e-6);
      EXPECT_EQ(rates.kernel_s.high, 2e-6);
      EXPECT_EQ(rates.kernel_s.measurements, 0);
    }
}

TEST(EngineRows, ARowOfTheSameNameTakesTheOthersPlace) {
  std::vector<Engine> rows = shipped();
  read_engines(rows,
               "[[engine]]\nname = \"vllm\"\ninherits = \"vllm\"\nversion = \"2\"\n"
               "source = \"notes\"\nmemory.utilization = 0.5\n",
               "mine.toml");
  EXPECT_EQ(rows.size(), engines().size());
  const auto row = std::ranges::find(rows, std::string_view("vllm"), &Engine::name);
  EXPECT_EQ(row->memory.utilization, 0.5);
}

TEST(EngineRows, RefusalsNameLineKeyAndWhatIsAllowed) {
  const auto says = [](const std::string& toml, std::string_view words) {
    const std::string text = engine_refusal(toml);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says(row_head, "key 'inherits': missing");
  const auto reserve = [](const std::string& tiers, const std::string& parent = "sglang") {
    return row_head + "inherits = \"" + parent + "\"\nmemory.reserve = [" + tiers + "]\n";
  };
  const std::string sizes = "chunk = 2048, graph_batch = 8, graph_batch_of_four = 8";
  says(reserve("{ from = \"40 GiB\", " + sizes + " }, { " + sizes + " }"),
       "expected rising amounts of memory");
  says(reserve("{ chunk = 2048, graph_batch = 8 }"), "graph_batch_of_four");
  says(reserve("{ shares = [1.5], " + sizes + " }"), "a share above 0 and at most 1");
  says(reserve("{ shares = [0.9], bytes = \"1 GiB\", " + sizes + " }"), "in place of bytes");
  says(reserve("{ " + sizes + " }", "llama.cpp"), "parallel.split = \"tensors\"");
  says(row_head + "inherits = \"vlm\"\n", "vllm");
  says(row_head + "inherits = \"vllm\"\ncache.windws = \"whole\"\n", "nearest: windows");
  says(row_head + "inherits = \"vllm\"\ncache.windows = \"half\"\n", "mine.toml:6");
  says(row_head + "inherits = \"vllm\"\ncache.windows = \"half\"\n",
       "whole, capped, hybrid_kv_pool");
  says(row_head + "inherits = \"vllm\"\ncache = 3\n", "expected a table");
  says(row_head + "inherits = \"vllm\"\nmemory.host_bytes = [3, 4, 5]\n", "low <= value <= high");
  says(row_head + "inherits = \"vllm\"\nmemory.host_bytes = 3\n", "[value, low, high]");
  says(row_head + "inherits = \"vllm\"\nmemory.host_bytes = [\"1 GiG\", 0, 9e9]\n", "host_bytes");
  says(row_head + "inherits = \"vllm\"\ncache.formats = [\"fp9\"]\n", "fp9");
  says(row_head + "inherits = \"vllm\"\nserving.prefill_chunk = 1.5\n", "whole number");
  says("[[engine]]\nname = \"mine\"\ninherits = \"vllm\"\nversion = \"1\"\n", "'source': missing");
}

TEST(EngineRows, NumbersOutsideTheirLimitsAreRefused) {
  const auto says = [](const std::string& line, std::string_view words) {
    const std::string text = engine_refusal(row_head + "inherits = \"vllm\"\n" + line + "\n");
    EXPECT_NE(text.find("mine.toml:6: key '"), std::string::npos) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says("kernels.decode_bandwidth = [-1, -2, 3]", "found -2; expected a number from 1e-06 to 1");
  says("kernels.decode_bandwidth = [80, 70, 90]", "found 70; expected a number from 1e-06 to 1");
  says("kernels.decode_bandwidth = [0.8, 0.7, 90]", "found 90; expected");
  says("kernels.decode_bandwidth = [0, 0, 0]", "found 0; expected");
  says("kernels.decode_interval = [1, 0, 2]", "found 0; expected a number from 0.001");
  says("memory.fragmentation = [-0.1, -0.2, 0]", "found -0.2; expected a number from 0 to 1");
  says("memory.context_bytes = [inf, inf, inf]", "found inf; expected a number from 0 to");
  says("memory.utilization = 99999999999999", "expected a number from 1e-06 to 1");
  says("memory.margin_bytes = -1", "found -1; expected a number from 0 to");
  says("cache.block_tokens = 0", "found 0; expected a number from 1 to");
  says("weights.vocabulary_multiple = 0", "found 0; expected a number from 1 to");
  says("weights.adapter_ranks = [8, 0]", "found 0; expected a number from 1 to");
  says("serving.draft_vocabulary = -2", "found -2; expected a number from -1 to");
  EXPECT_EQ(engine_refusal(row_head + "inherits = \"vllm\"\nmemory.graph_bytes = [0, 0, 0]\n"),
            "accepted");
}

TEST(EngineRows, ShippedConstantsAreWithinTheirLimits) {
  for (const Engine& row : engines())
    for (const NamedConstant& each : named_constants()) {
      if (each.of_engine) {
        EXPECT_EQ(problem_of(each, each.in(row)), "") << row.name << ' ' << each.name;
        continue;
      }
      for (const auto& by_width : row.kernels.efficiency)
        for (const KernelEfficiency& rates : by_width)
          EXPECT_EQ(problem_of(each, rates.*each.of_efficiency), "")
              << row.name << ' ' << each.name;
    }
}

TEST(EngineRows, AreNamedOnceInAFile) {
  const std::string row = row_head + "inherits = \"vllm\"\n";
  EXPECT_NE(engine_refusal(row + row).find("mine.toml:7: key 'name': found 'mine' twice"),
            std::string::npos)
      << engine_refusal(row + row);
}

TEST(EngineRows, UsualPrecisionsAreKnownAndNotNone) {
  const std::string key = row_head + "inherits = \"vllm\"\nusual_precisions = ";
  EXPECT_NE(engine_refusal(key + "[]\n").find("mine.toml:6: key 'usual_precisions': found none"),
            std::string::npos)
      << engine_refusal(key + "[]\n");
  for (const std::string name : {"usual_precisions", "asked_precisions"}) try {
      add_engines(row_head + "inherits = \"vllm\"\n" + name + " = \"abc\"\n", "mine.toml");
      ADD_FAILURE() << "accepted";
    } catch (const std::runtime_error& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("mine.toml: key '" + name +
                                                    "' of engine 'mine': unknown precision 'abc'"))
          << e.what();
    }
}

/// Texts and numbers of every row, as the files have them.
TEST(EngineRecord, TheProgramContainsTheFiles) {
  const auto table = [](const std::string& name) {
    return read_text_file(test::source_path("model/engine/" + name));
  };
  std::set<std::filesystem::path> files;
  for (const auto& each :
       std::filesystem::directory_iterator(test::source_path("model/engine/engines")))
    if (each.path().extension() == ".toml") files.insert(each.path());
  std::vector<Engine> rows;
  for (const auto& file : files) read_engines(rows, read_text_file(file), file.filename().string());
  std::erase_if(rows, [](const Engine& row) { return row.is_template; });
  const std::string constants = table("constants.tsv"), effects = table("effects.tsv");
  apply_measured(rows, constants, effects);
  ASSERT_EQ(rows.size(), engines().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const EngineField& field : engine_fields())
      EXPECT_EQ(text_of(field, rows[i]), text_of(field, engines()[i]))
          << rows[i].name << ' ' << field.key;
    EXPECT_EQ(to_record({&rows[i], 1}), to_record({&engines()[i], 1})) << rows[i].name;
  }
}

TEST(EngineRecord, KeepsEveryConstant) {
  std::vector<Engine> rows = {engine("vllm")};
  double value = 1;
  for (const NamedConstant& each : named_constants()) {
    if (each.of_engine) {
      each.in(rows[0]) = {value, value - 1, value + 1, static_cast<int>(value), each.name};
      value += 1;
      continue;
    }
    for (auto& by_width : rows[0].kernels.efficiency)
      for (KernelEfficiency& rates : by_width) {
        rates.*each.of_efficiency = {value, value - 1, value + 1, 0, each.policy};
        value += 1;
      }
  }
  const std::string record = to_record(rows);
  const Engine read = from_record(record).at(0);
  const auto expect_equal = [](const Constant& a, const Constant& b, std::string_view name) {
    EXPECT_EQ(a.value, b.value) << name;
    EXPECT_EQ(a.low, b.low) << name;
    EXPECT_EQ(a.high, b.high) << name;
    EXPECT_EQ(a.measurements, b.measurements) << name;
    EXPECT_EQ(a.source, b.source) << name;
  };
  for (const NamedConstant& each : named_constants()) {
    if (each.of_engine) {
      expect_equal(each.in(read), each.in(rows[0]), each.name);
      continue;
    }
    for (std::size_t c = 0; c < card_classes; ++c)
      for (std::size_t w = 0; w < widths; ++w)
        expect_equal(read.kernels.efficiency[c][w].*each.of_efficiency,
                     rows[0].kernels.efficiency[c][w].*each.of_efficiency, each.name);
  }
}

TEST(EngineRecord, RecordsOfAnotherBuildAreRefused) {
  const std::string record = to_record(engines().first(2));
  EXPECT_EQ(to_record(from_record(record)), record);
  EXPECT_THROW(from_record(""), std::logic_error);
  EXPECT_THROW(from_record(record + "1"), std::logic_error);
  EXPECT_THROW(from_record(record.substr(0, record.size() / 2)), std::logic_error);
}

/// The base row gives every constant, so no engine computes with zeros.
TEST(EngineRows, GiveEveryConstantASource) {
  for (const Engine& row : policy_rows())
    for (const NamedConstant& each : named_constants()) {
      const Constant& c = each.of_engine
                              ? each.in(row)
                              : row.kernels.efficiency.front().front().*each.of_efficiency;
      EXPECT_FALSE(c.source.empty()) << row.name << ' ' << each.name;
    }
}

/// Memory that nobody measured is no better known than what somebody did.
TEST(EngineRows, UnmeasuredMemoryHasTheWidestInterval) {
  const auto of = [](const Engine& row) { return row.memory.interval; };
  int measured = 0, unmeasured = 0;
  for (const Engine& row : engines()) {
    ++(of(row).measurements > 0 ? measured : unmeasured);
    if (of(row).measurements > 0) continue;
    for (const Engine& other : engines()) {
      EXPECT_LE(of(row).low, of(other).low) << row.name << ' ' << other.name;
      EXPECT_GE(of(row).high, of(other).high) << row.name << ' ' << other.name;
    }
  }
  EXPECT_GT(measured, 5);
  EXPECT_GT(unmeasured, 5);
}

TEST(EngineFields, HaveKeysOfTheirOwn) {
  std::set<std::pair<std::string_view, std::string_view>> keys;
  for (const EngineField& field : engine_fields())
    EXPECT_TRUE(keys.emplace(field.policy, field.key).second) << field.key;
  for (const NamedConstant& each : named_constants())
    EXPECT_TRUE(keys.emplace(each.policy, each.name).second) << each.name;
}

}  // namespace
}  // namespace headroom::model
