// Advice of a report from its own rows.
#include "report/advice.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headroom::report {
namespace {

/// An 8B model on `gpus` cards that decodes `tokens_s`.
ModelRow row_on(const std::string& machine, Size gpus, double tokens_s) {
  ModelRow row;
  row.machine = machine;
  row.gpus = gpus;
  row.model = "org/8b";
  row.runtime = "vllm";
  row.precision = row.held = "bf16";
  model::Estimate e;
  e.verdict = gpus > 1 ? model::Verdict::fits_gpus : model::Verdict::fits_one_gpu;
  e.tokens_s = tokens_s;
  e.total = Seconds(100 / tokens_s);
  row.entries.push_back({0, {}, e});
  return row;
}

std::string advice_of(const ModelRow& from, const ModelRow& other) {
  const std::vector<const ModelRow*> here{&from}, all{&from, &other};
  return advice(from, here, all);
}

/// As `estimate` notes it of one machine.
TEST(Advice, NamesFewerCardsThatServeMore) {
  const ModelRow eight = row_on("8x l4-24gb @ gcp-g2", 8, 60);
  EXPECT_EQ(advice_of(eight, row_on("2x l4-24gb @ other", 2, 70)),
            "fewer GPUs: 70.0 tokens/s on 2x l4-24gb @ other, as cards wait for each other");
  EXPECT_EQ(advice_of(eight, row_on("2x l4-24gb @ other", 2, 60.5)), "") << "as good as equal";
  EXPECT_EQ(advice_of(eight, row_on("2x l40s-48gb @ other", 2, 70)), "") << "another card";
  EXPECT_EQ(advice_of(row_on("2x l4-24gb @ other", 2, 70), eight), "");
  ModelRow narrow = row_on("2x l4-24gb @ other", 2, 90);
  narrow.held = "fp8";
  EXPECT_EQ(advice_of(eight, narrow), "") << "other weights";
}

}  // namespace
}  // namespace headroom::report
