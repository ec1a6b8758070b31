// Bytes of tiny checkpoints that quantisers wrote themselves (make_exports.py): equal to the byte.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <fstream>
#include <string>

#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

TEST(Exports, HaveTheBytesThatTheirToolWrote) {
  std::ifstream lines(data_path("exports.jsonl"));
  int read = 0;
  for (std::string line; std::getline(lines, line); ++read) {
    const boost::json::object row = boost::json::parse(line).as_object();
    const std::string name = text_of(row.at("tool")) + ", " + text_of(row.at("name"));
    const model::Config config(row.at("config").as_object(), name);
    const model::Model model = model::make_model(name, config, "");
    EXPECT_TRUE(model.unknown_keys.empty()) << name << ": " << model.unknown_keys.front().key;
    EXPECT_EQ(checkpoint_bytes(model).count(), row.at("bytes").to_number<std::int64_t>()) << name;
  }
  EXPECT_GE(read, 30);
}

}  // namespace
}  // namespace headroom::oracle
