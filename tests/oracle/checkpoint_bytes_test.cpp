// Bytes of published checkpoints, to the last one.
//
// checkpoint_bytes.csv has metadata.total_size of each repository's model.safetensors.index.json on
// huggingface.co, as files that quote it have it (read 2026-11). It counts tensors, not the headers
// of files. Checkpoints whose types no config tells are left out: Qwen3.5-122B-A10B has some norms
// in fp32, Qwen3.6-35B-A3B of the same config has none.
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"

#include <gtest/gtest.h>

#include "csv.hpp"
#include "published.hpp"

namespace headroom::oracle {
namespace {

TEST(PublishedCheckpoints, EqualThePublishedTotals) {
  for (const Row& row : read_csv("checkpoint_bytes.csv"))
    EXPECT_EQ(checkpoint_bytes(cached_model(row.at("model"))).count(), std::stoll(row.at("bytes")))
        << row.at("model");
}

}  // namespace
}  // namespace headroom::oracle
