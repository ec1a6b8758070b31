// The states that real optimizers keep after a step, row by row, against the tables of optimizers.
//
// data/training/optimizer_state.csv: recorded with the packages in its `version` column, one row a
// state tensor, parameters of four shapes in float32 and bfloat16.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "csv.hpp"
#include "model/train/optimizer.hpp"

namespace headroom::oracle {
namespace {

using model::Optimizer;
using model::Shape;
using model::StateElement;

Shape shape_of(const std::string& text) {
  Shape shape;
  if (text == "scalar") return shape;
  for (std::size_t at = 0; at < text.size();) {
    Size dimension = 0;
    const auto end = std::from_chars(text.data() + at, text.data() + text.size(), dimension).ptr;
    shape.push_back(dimension);
    at = static_cast<std::size_t>(end - text.data()) + 1;
  }
  return shape;
}

std::string dtype_of(StateElement element, const std::string& parameter) {
  switch (element) {
    case StateElement::parameter:
      return parameter;
    case StateElement::fp32:
      return "float32";
    case StateElement::bf16:
      return "bfloat16";
    case StateElement::fp16:
      return "float16";
    case StateElement::fp8:
      return "float8_e4m3fn";
    case StateElement::int8:
      return "int8";
    case StateElement::uint8:
      return "uint8";
    case StateElement::boolean:
      return "bool";
  }
  return "";
}

/// The row of ours that a recording is of; its note may say the rank of projections besides
/// options.
Optimizer recorded(const Row& row) {
  std::string options;
  Size rank = 0;
  for (std::size_t at = 0; at < row.at("note").size();) {
    const std::string& note = row.at("note");
    const auto end = std::min(note.find(',', at), note.size());
    const std::string part = note.substr(at, end - at);
    if (part.starts_with("rank="))
      std::from_chars(part.data() + 5, part.data() + part.size(), rank);
    else
      options += (options.empty() ? "" : ",") + part;
    if (part == "rank=1 (mini)") options = "mini";
    at = end + 1;
  }
  for (const Optimizer& each : model::optimizers())
    if (each.package == row.at("package") && each.class_name == row.at("optimizer") &&
        each.options == options) {
      Optimizer found = each;
      if (rank > 0) found.rank = rank;
      return found;
    }
  throw std::runtime_error(
      fmt::format("no row for {} {} ({})", row.at("package"), row.at("optimizer"), row.at("note")));
}

using State = std::tuple<std::string, std::string, Shape, Size>;  ///< name, dtype, shape, bytes

TEST(OptimizerState, EveryRecordedTensor) {
  std::map<std::string, std::pair<Row, std::set<State>>> recordings;
  for (const Row& row : read_csv("training/optimizer_state.csv")) {
    auto& [first, states] = recordings[fmt::format(
        "{} {} ({}) {} {} step {}", row.at("package"), row.at("optimizer"), row.at("note"),
        row.at("param"), row.at("param_dtype"), row.at("steps"))];
    first = row;
    if (row.at("state_name").empty()) continue;
    states.insert({row.at("state_name"), row.at("state_dtype"), shape_of(row.at("state_shape")),
                   std::stoll(row.at("state_bytes"))});
  }
  EXPECT_GT(recordings.size(), 1500U);
  for (const auto& [what, recording] : recordings) {
    const auto& [row, expected] = recording;
    const std::string& dtype = row.at("param_dtype");
    std::set<State> ours;
    for (const auto& state : model::states_of(recorded(row), shape_of(row.at("param_shape")),
                                              dtype == "float32" ? 4 : 2))
      ours.insert({state.name, dtype_of(state.element, dtype), state.shape, state.bytes.count()});
    EXPECT_EQ(ours, expected) << what;
  }
}

TEST(OptimizerState, ARowForEveryNameOfTheTrainer) {
  // transformers 5.23 training_args.py, OptimizerNames, but those that keep no states of their own
  // (lomo, adalomo) or wrap others (layerwise).
  for (const auto* name : {"adamw_torch",
                           "adamw_torch_fused",
                           "adafactor",
                           "adamw_torch_4bit",
                           "adamw_torch_8bit",
                           "ademamix",
                           "sgd",
                           "adagrad",
                           "adamw_bnb_8bit",
                           "adamw_8bit",
                           "ademamix_8bit",
                           "lion_8bit",
                           "lion_32bit",
                           "paged_adamw_32bit",
                           "paged_adamw_8bit",
                           "paged_ademamix_32bit",
                           "paged_ademamix_8bit",
                           "paged_lion_32bit",
                           "paged_lion_8bit",
                           "rmsprop",
                           "rmsprop_bnb",
                           "rmsprop_bnb_8bit",
                           "rmsprop_bnb_32bit",
                           "galore_adamw",
                           "galore_adafactor",
                           "grokadamw",
                           "schedule_free_radam",
                           "schedule_free_adamw",
                           "schedule_free_sgd",
                           "apollo_adamw",
                           "stable_adamw"})
    EXPECT_NO_THROW(model::optimizer(name)) << name;
}

}  // namespace
}  // namespace headroom::oracle
