// Bytes and counts of published checkpoints, to the last one.
//
// checkpoint_bytes.csv has the bytes of all tensors in a checkpoint, without the headers of files:
// metadata.total_size of its model.safetensors.index.json, or its numbers of each type. Files that
// quote them are the sources (read 2026-11). Checkpoints whose types no config tells are left out:
// Qwen3.5-122B-A10B has some norms in fp32, Qwen3.6-35B-A3B of the same config has none.
//
// checkpoint_elements.csv has the hub's count of a checkpoint's elements (safetensors.total). The
// column `described_by` names the model of the catalogue with the same shapes if the model itself
// is not there. The hub counts quantised files in several ways. `counts` says what a number
// contains:
//   scales      the scales of blocks are elements too
//   packed      two values in a byte are one element
//   no-buffers  stored buffers are left out, such as a router's correction bias
//   head        the file stores the tied head again
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "csv.hpp"
#include "model/checkpoint/quantisation/further_modules.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "published.hpp"

namespace headroom::oracle {
namespace {

using model::Model;
using model::QuantisedTensor;
using model::Role;
using model::Tensor;

TEST(PublishedCheckpoints, EqualThePublishedTotals) {
  for (const Row& row : read_csv("checkpoint_bytes.csv"))
    EXPECT_EQ(checkpoint_bytes(cached_model(row.at("model"))).count(), std::stoll(row.at("bytes")))
        << row.at("model") << ": " << row.at("source");
}

/// Scales of blocks: of fp8 squares one each in fp32, of fp4 one for 16 or 32 values.
Size scales_of(const QuantisedTensor& held, Size elements) {
  if (held.format == nullptr) return 0;
  const std::string_view format = held.format->name;
  if (format == "fp8") return (held.bytes.count() - elements) / 4;
  return format == "nvfp4" ? elements / 16 : format == "mxfp4" ? elements / 32 : 0;
}

Size published_elements(const Model& m, const std::set<std::string>& counts) {
  const Model all = with_further_modules(m);
  const std::vector<QuantisedTensor> tensors =
      quantised_tensors(all, model::scheme(all.checkpoint_scheme));
  Size sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = all.part.tensors[i];
    const Size elements = tensor.elements();
    if (!tensor.tied_to.empty()) {
      if (tensor.role == Role::head && counts.contains("head")) sum += elements;
      continue;
    }
    if (!tensor.is_parameter() && (!tensor.persistent || counts.contains("no-buffers"))) continue;
    const bool fp4 = tensors[i].format != nullptr && tensors[i].format->name == "nvfp4";
    sum += fp4 && counts.contains("packed") ? elements / 2 : elements;
    if (counts.contains("scales")) sum += scales_of(tensors[i], elements);
  }
  return sum;
}

TEST(PublishedCheckpoints, HaveThePublishedNumberOfElements) {
  for (const Row& row : read_csv("checkpoint_elements.csv")) {
    std::istringstream words(row.at("counts"));
    const std::set<std::string> counts{std::istream_iterator<std::string>(words), {}};
    const std::string& reference = row.at("described_by");
    const Model& m = cached_model(reference.empty() ? row.at("model") : reference);
    EXPECT_EQ(published_elements(m, counts), std::stoll(row.at("elements")))
        << row.at("model") << ": " << row.at("source");
  }
}

TEST(PublishedCheckpoints, AreEachNamedOnceAndWithASource) {
  for (const char* file : {"checkpoint_bytes.csv", "checkpoint_elements.csv"}) {
    std::set<std::string> names;
    for (const Row& row : read_csv(file)) {
      EXPECT_TRUE(names.insert(row.at("model")).second) << file << ": " << row.at("model");
      EXPECT_FALSE(row.at("source").empty()) << file << ": " << row.at("model");
    }
  }
}

}  // namespace
}  // namespace headroom::oracle
