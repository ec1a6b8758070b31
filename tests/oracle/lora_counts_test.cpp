// Trained parameters and adapted modules of LoRA and DoRA, against PEFT's own counts.
//
// data/training/lora_counts.csv: PEFT 0.21.2 over transformers 5.23 on the meta device, one row a
// model, list of targets, rank and variant; `error` where PEFT refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <set>
#include <string>

#include "csv.hpp"
#include "hardware/text_file.hpp"
#include "model/checkpoint/adapter.hpp"
#include "reference.hpp"
#include "tests/support/paths.hpp"

namespace headroom::oracle {
namespace {

namespace json = boost::json;

std::vector<std::string> texts(const std::string& list) {
  std::vector<std::string> all;
  const json::value parsed = json::parse(list);
  for (const auto& each : parsed.as_array()) all.emplace_back(each.as_string());
  return all;
}

/// "org__name" of the catalogue.
model::Model catalogue_model(const std::string& name) {
  const std::string file = test::source_path("model/describe/catalogue/" + name + ".json");
  return model::make_model(name, model::parse_config(read_text_file(file), file), file);
}

model::AdapterRequest request_of(const Row& row) {
  model::AdapterRequest request{.rank = std::stoll(row.at("rank")),
                                .magnitudes = row.at("variant") == "dora"};
  const std::string& targets = row.at("targets");
  if (targets == "all-linear")
    request.targets = {targets};
  else if (!targets.empty())
    request.targets = texts(targets);
  return request;
}

TEST(LoraCounts, EveryRowOfPeft) {
  std::map<std::string, model::Model> models;
  int compared = 0, refused = 0;
  for (const Row& row : read_csv("training/lora_counts.csv")) {
    const std::string& name = row.at("model");
    if (!models.contains(name)) models.emplace(name, catalogue_model(name));
    const model::Model& m = models.at(name);
    const std::string what = fmt::format("{} {} rank {} {}", name, row.at("target_set"),
                                         row.at("rank"), row.at("variant"));
    if (!row.at("error").empty()) {
      EXPECT_THROW(model::adapt(m, request_of(row)), model::AdapterError) << what;
      ++refused;
      continue;
    }
    try {
      const model::Adapter adapter = model::adapt(m, request_of(row));
      EXPECT_EQ(adapter.parameters(), std::stoll(row.at("trainable_params"))) << what;
      EXPECT_EQ(adapter.magnitudes(), std::stoll(row.at("trainable_magnitude_params"))) << what;
      EXPECT_EQ(adapter.modules.size(), std::stoull(row.at("adapted_modules"))) << what;
    } catch (const model::AdapterError& e) {
      ADD_FAILURE() << what << ": " << e.what();
    }
    ++compared;
  }
  EXPECT_GE(compared, 452);
  EXPECT_GE(refused, 20);
}

}  // namespace
}  // namespace headroom::oracle
