// Descriptions held against the tensors that transformers itself saves: names and shapes of
// checkpoints, which are not those in memory. Made by tests/oracle/make_checkpoints.py.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <map>
#include <sstream>

#include "archive.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

namespace json = boost::json;

/// Models whose checkpoints differ from their config's description, and in how many tensors. T5:
/// the config leaves the head untied, transformers 5 saves it tied. The others have other names in
/// checkpoints than in memory, by rules of their own (transformers 5.23, conversion_mapping.py; of
/// Inkling 2, Dory, Lara and HY4-VL transformers 5.24) for the same elements, which the test sums.
const std::map<std::string, std::size_t> known = {
    // T5's head
    {"bigscience__T0pp", 1},
    {"google__flan-t5-large", 1},
    {"google__flan-t5-small", 1},
    {"google__flan-t5-xxl", 1},
    {"google__mt5-small", 1},
    // queries, keys, values and gates of several modules saved as one matrix
    {"default__hrm_text", 320},
    {"default__jina_embeddings_v3", 64},
    {"default__nemotron_h_omni", 58},
    {"default__unlimited_ocr", 46},
    // one convolution saved as three
    {"default__olmo_hybrid", 12},
    // renamed: hyper-connections, attention over earlier blocks, experts
    {"default__hy_v4", 62},
    {"default__hy_v4_vl", 74},
    {"default__inkling2_loop_text", 91},
    {"default__inkling2_text", 40},
    // attention and feed-forward of one layer saved as two
    {"default__dory", 1},
    // one projection saved for four
    {"default__lara_mini", 10},
    {"default__aria", 16},
    {"default__aria_text", 16},
};

/// Rows of zeros that fill up the vocabulary of a saved head. The model leaves them out.
const std::map<std::string, Size> filled = {
    {"default__inkling2_loop_text", (201024 - 200058) * Size{2304}},
    {"default__inkling2_text", (201024 - 200058) * Size{4608}},
};

model::TensorList list_of(const json::object& tensors) {
  model::TensorList list{"checkpoint", {}, Bytes(0), {}};
  for (const auto& [name, shape] : tensors) {
    model::TensorHeader header{std::string(name), "BF16", {}, Bytes(0), {}};
    for (const auto& size : shape.as_array()) header.shape.push_back(size.as_int64());
    header.bytes = Bytes(2 * header.elements());
    list.total += header.bytes;
    list.tensors.push_back(std::move(header));
  }
  return list;
}

/// Elements of all that checkpoints of a description hold.
Size saved_elements(const model::Part& part) {
  Size sum = 0;
  for (const auto& t : part.tensors)
    if (t.tied_to.empty() && t.persistent) sum += t.elements();
  return sum;
}

TEST(CheckpointNames, AgreeWithDescriptions) {
  std::istringstream lines(read_gzip(data_path("checkpoints/names.jsonl.gz")));
  Size models = 0, tensors = 0, undescribed = 0;
  for (std::string line; std::getline(lines, line);) {
    const json::object row = json::parse(line).as_object();
    const std::string name(row.at("name").as_string());
    SCOPED_TRACE(name);
    const model::Config config = model::parse_config(json::serialize(row.at("config")), name);
    model::Model model;
    try {
      model = model::make_model(name, config, "test");
    } catch (const model::NotDescribed&) {
      ++undescribed;
      continue;
    }
    model::TensorList list = list_of(row.at("tensors").as_object());
    const Size saved = list.total.count() / 2;
    model::attach(model, std::move(list), model::Detail::tensors);
    const auto& found = model.stored->comparison;
    const auto it = known.find(name);
    EXPECT_EQ(found.differences.size(), it == known.end() ? 0 : it->second)
        << (found.differences.empty() ? "" : found.differences.front().name);
    if (it != known.end() && name.starts_with("default__")) {
      const auto zeros = filled.find(name);
      EXPECT_EQ(saved - (zeros == filled.end() ? 0 : zeros->second), saved_elements(model.part));
    }
    ++models;
    tensors += found.described;
  }
  EXPECT_GT(models, 200);
  std::printf("%ld models, %ld tensors, %ld models not described\n", models, tensors, undescribed);
}

}  // namespace
}  // namespace headroom::oracle
