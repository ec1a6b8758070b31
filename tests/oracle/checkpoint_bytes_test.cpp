// Bytes and counts of published checkpoints, to the last one.
//
// checkpoint_bytes.csv has what a published checkpoint holds, each row to the last digit of its
// source (read 2026-11). The columns:
//   described_by  the model of the catalogue with the same shapes, if the model itself is not there
//   scheme        how the file stores it, if not in the model's own precision
//   size, unit    the published figure. It stands for half a unit of its last digit on both sides
//   holds         tensors, or files: then with their headers, which no config determines
//   further       bytes of content that the program leaves out, and `why` says what that is. A "?"
//                 marks a figure that differs for a cause that no source tells
// The table has every figure that a source prints for models of 2025 and 2026. The catalogue must
// describe the model, in 16 bit or by a recipe that the file's name tells in full. Left out are
// quantisations by MLX, and unsloth's dynamic ones ("UD"). Exo's cards in
// whole MiB are estimates, and docker's rows of Qwen3-Reranker are permuted: both are left out. So
// are sums with a projector's file. The index of Qwen3.5-122B-A10B is left out too: it has some
// norms in fp32, which no config tells. Unsloth makes its Q4_0 files with an importance matrix.
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

#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "csv.hpp"
#include "model/checkpoint/quantisation/further_modules.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "published.hpp"
#include "sweep/accuracy/published_sizes.hpp"

namespace headroom::oracle {
namespace {

using model::Model;
using model::QuantisedTensor;
using model::Role;
using model::Tensor;

/// Headers of safetensors files as a share: 56.8 MB of 595 GB in moonshotai/Kimi-K2.7-Code.
constexpr double largest_share_of_headers = 1e-4;

double bytes_of_unit(const std::string& name) {
  static const std::map<std::string, double> units = {
      {"B", 1.0}, {"GB", 1e9}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
  return units.at(name);
}

/// The model that describes a row.
const Model& model_of(const Row& row) {
  const std::string& reference = row.at("described_by");
  return cached_model(reference.empty() ? row.at("model") : reference);
}

double described_bytes(const Row& row) {
  const std::string& name = row.at("scheme");
  return name.empty() ? checkpoint_bytes(model_of(row)).real().value()
                      : sweep::stored_bytes(model_of(row), model::scheme(name));
}

/// The most that the headers of a row's files take.
double headers_of(const Row& row) {
  if (row.at("holds") != "files") return 0;
  return row.at("model").ends_with(".gguf") ? sweep::largest_gguf_header
                                            : largest_share_of_headers * described_bytes(row);
}

TEST(PublishedCheckpoints, EqualThePublishedTotals) {
  for (const Row& row : read_csv("checkpoint_bytes.csv")) {
    const std::string &size = row.at("size"), &further = row.at("further");
    const bool unexplained = further == "?";
    const double unit = bytes_of_unit(row.at("unit"));
    const double slack = unit == 1 ? 0 : rounding(size) * unit;
    const double rest = std::stod(size) * unit - described_bytes(row) -
                        (further.empty() || unexplained ? 0 : std::stod(further));
    EXPECT_NE(rest >= -slack && rest <= slack + headers_of(row), unexplained)
        << row.at("model") << ": " << size << ' ' << row.at("unit") << ", rest "
        << std::llround(rest) << " B; " << row.at("source");
    EXPECT_EQ(row.at("why").empty(), further.empty()) << row.at("model");
  }
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
    EXPECT_EQ(published_elements(model_of(row), counts), std::stoll(row.at("elements")))
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
