// Published sizes of quantised models against what the schemes give, to the last printed digit.
//
// A row of quantised_sizes.csv must agree if all of these hold:
//   its grade is A or A-;
//   quantised_models.csv names a described model with equal shapes;
//   its recipe is one of schemes() by name;
//   the parameter count that it prints is the model's;
//   quantised_exceptions.csv has no reason against it.
// Rows of grade B are compared and counted. A file's header, which a config does not determine, is
// allowed for. Rows of files must leave a header of one size for all exact files of a model, or lie
// within the largest published header.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "csv.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/config.hpp"
#include "published.hpp"
#include "sweep/accuracy/published_sizes.hpp"

namespace headroom::oracle {
namespace {

using model::Model;
using model::QuantisedTensor;
using model::Scheme;
using sweep::stored_bytes;

using sweep::largest_gguf_header;
using sweep::largest_header;

std::optional<double> unit(const std::string& name) {
  static const std::map<std::string, double> units = {
      {"bytes", 1.0}, {"GB", 1e9}, {"GiB", 1073741824.0}, {"MB", 1e6}, {"MiB", 1048576.0}};
  const auto it = units.find(name);
  return it == units.end() ? std::nullopt : std::optional(it->second);
}

struct Outcome {
  std::string id, text;
  bool compared = false, equal = false;
};

/// `read`: the canonical row of `row`.
Outcome compare_size(const Row& row, const Row& read,
                     const std::map<std::string, std::string>& references,
                     const std::map<std::string, std::string>& exceptions,
                     std::map<std::string, std::map<double, std::string>>& headers) {
  Outcome out{row.at("id"), ""};
  const std::string& name = row.at("model");
  if (row.at("grade") == "C") return out.text = "grade C", out;
  if (const auto it = exceptions.find(out.id); it != exceptions.end())
    return out.text = it->second, out;
  const auto reference = references.find(name);
  if (reference == references.end()) return out.text = "model not in the catalogue", out;
  const auto choices = published_schemes(read);
  if (choices.empty()) return out.text = "recipe not one of ours: " + row.at("quant"), out;
  const Model* found = nullptr;
  try {
    found = &cached_model(reference->second);
  } catch (const model::ConfigError& error) {
    return out.text = error.what(), out;
  }
  const Model& m = *found;
  if (!same_parameters(row.at("params_published"), read, m))
    return out.text = "prints a parameter count that is not ours: holds other tensors", out;
  const bool file = row.at("quantity") == "file_size";
  const std::string& printed = row.at("value");
  const double value = std::stod(printed);
  out.compared = true;
  for (const Scheme* scheme : choices) {
    const double bytes = stored_bytes(m, *scheme);
    if (row.at("unit") == "bpw") {
      const double bits = bytes * 8 / static_cast<double>(published_parameters(read, m));
      out.equal = std::abs(bits - value) <= rounding(printed);
      out.text = fmt::format("{} printed {}, ours {:.4f}", scheme->name, printed, bits);
    } else {
      const double scale = unit(row.at("unit")).value();
      const double slack = row.at("unit") == "bytes" ? 0 : rounding(printed) * scale;
      const double rest = value * scale - bytes;
      out.equal =
          rest >= -slack && rest <= slack + (!file                        ? 0
                                             : row.at("format") == "gguf" ? largest_gguf_header
                                                                          : largest_header);
      if (out.equal && file && slack == 0 && row.at("format") == "gguf")
        headers[name][rest] += row.at("quant") + " ";
      out.text = fmt::format("{} printed {} {}, ours {:.0f} B, rest {:.0f} B", scheme->name,
                             printed, row.at("unit"), bytes, rest);
      if (out.equal && !row.at("bpw").empty() && row.at("bpw").size() >= 6) {
        const double bits = bytes * 8 / static_cast<double>(published_parameters(read, m));
        out.equal = std::abs(bits - std::stod(row.at("bpw"))) <= rounding(row.at("bpw"));
        out.text += fmt::format(", bpw {} ours {:.5f}", row.at("bpw"), bits);
      }
    }
    if (out.equal) return out;
  }
  return out;
}

TEST(QuantisedSizes, AgreeToTheLastPrintedDigit) {
  const auto references = published_models();
  std::map<std::string, std::string> exceptions;
  for (const Row& row : read_csv("quantised_exceptions.csv"))
    exceptions[row.at("id")] = row.at("reason");
  std::map<std::string, std::map<double, std::string>> headers;
  int rows = 0, compared = 0, equal = 0, loose = 0, loose_equal = 0;
  std::map<std::string, int> why;
  const auto canonical = canonical_sizes();
  for (const Row& row : read_csv("../../accuracy/quantised_sizes.csv")) {
    const Outcome out =
        compare_size(row, canonical.at(row.at("id")), references, exceptions, headers);
    ++rows;
    if (!out.compared) ++why[out.text];
    const std::string line =
        fmt::format("row {} {}: {} ({})", out.id, row.at("model"), out.text, row.at("notes"));
    if (out.compared && row.at("grade") == "B") {
      // Rounded or partly described: counted, not asserted.
      (out.equal ? loose_equal : loose) += 1;
      if (!out.equal) fmt::print("  grade B, not equal: {}\n", line);
    } else if (out.compared) {
      ++compared;
      equal += out.equal;
      EXPECT_TRUE(out.equal) << line;
    }
  }
  fmt::print(
      "quantised sizes: {} rows; grades A and A-: {} compared, {} equal; grade B: {} compared, {} "
      "equal\n",
      rows, compared, equal, loose + loose_equal, loose_equal);
  for (const auto& [reason, n] : why) fmt::print("  {} not compared: {}\n", n, reason);
  for (const auto& [name, sizes] : headers) {
    // Quantised files say a quantisation version more than fp16 ones: an entry of 44 bytes, padded.
    EXPECT_LE(sizes.rbegin()->first - sizes.begin()->first, 64)
        << "files of " << name << " leave headers of several sizes";
    for (const auto& [size, quants] : sizes)
      fmt::print("  header of {}: {:.0f} B: {}\n", name, size, quants);
  }
  EXPECT_GE(compared, 170);
}

TEST(QuantisedSizes, Int8WithTheRestInFp32) {
  // Row 59: a fine-tune of Llama-3.1-8B whose norms, embedding and head are fp32.
  const Model& m = cached_model("meta-llama/Llama-3.1-8B");
  const std::vector<QuantisedTensor> tensors = quantised_tensors(m, model::scheme("int8"));
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (m.part.tensors[i].is_parameter())
      sum += tensors[i].format->name == "int8" ? tensors[i].bytes.count()
                                               : 4 * m.part.tensors[i].elements();
  EXPECT_EQ(sum, 11188584672);
}

}  // namespace
}  // namespace headroom::oracle
