#include "sweep/accuracy/published_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hardware/names.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"

namespace headroom::sweep {
namespace {

using model::Model;
using model::Scheme;

constexpr double largest_gguf_header = 16e6;  ///< with a vocabulary of 262144
constexpr double largest_header = 1e6;        ///< of other files of a few thousand tensors

/// Recipes as files are named, where that is not a name of the scheme.
struct Recipe {
  std::string_view written, scheme;
};
constexpr Recipe recipes[] = {{"fp8-e4m3 block 128x128", "fp8-block"},
                              {"nf4 double-quant", "nf4-double"},
                              {"fp8-dynamic (per-channel weight scale)", "fp8-channel"},
                              {"nvfp4 (modelopt)", "nvfp4"}};

double unit(const std::string& name) {
  if (name == "bytes") return 1;
  if (name == "GB") return 1e9;
  if (name == "GiB") return 1073741824.0;
  if (name == "MB") return 1e6;
  if (name == "MiB") return 1048576.0;
  throw Skipped(Skip::statistic, fmt::format("unit '{}'", name));
}

/// Bits that the first number in the name of a recipe says; 16 where it has none.
double nominal_bits(const std::string& quant) {
  const auto digit = quant.find_first_of("0123456789");
  if (digit == std::string::npos) return 16;
  return std::stod(quant.substr(digit));
}

}  // namespace

double rounding(const std::string& printed) {
  const auto dot = printed.find('.');
  const std::size_t digits = dot == std::string::npos ? 0 : printed.size() - dot - 1;
  return 0.5 * std::pow(10.0, -static_cast<double>(digits)) * (1 + 1e-9);
}

std::vector<const Scheme*> published_schemes(const Measurement& row) {
  if (row["format"] == "ggml-v3" || row["format"] == "mlx") return {};
  std::string name = lower(row["quant"]);
  if (row["format"] == "gguf") {
    if (const auto cut = name.find(" - "); cut != std::string::npos) name.resize(cut);
    if (name == "f16" || name == "bf16" || name == "f32") name = "gguf-" + name;
  } else {
    if (name.ends_with("-actorder")) name.resize(name.size() - 9);
    for (const Recipe& each : recipes)
      if (each.written == name) name = each.scheme;
  }
  const auto find = [](const std::string& wanted) -> const Scheme* {
    try {
      return &model::scheme(wanted);
    } catch (const UnknownName&) {
      return nullptr;
    }
  };
  std::vector<const Scheme*> found;
  const std::string notes = lower(row["notes"]);
  const bool without = notes.find("no imatrix") != std::string::npos,
             with = !without && notes.find("imatrix") != std::string::npos;
  if (const Scheme* s = find(name); s && !(with && find(name + "-imatrix"))) found.push_back(s);
  if (const Scheme* s = find(name + "-imatrix"); s && !without) found.push_back(s);
  return found;
}

double stored_bytes(const Model& m, const Scheme& scheme) {
  const std::vector<model::QuantisedTensor> tensors = held(m, scheme);
  const bool gguf = scheme.reach == model::Reach::llama_cpp;
  std::set<const model::Tensor*> language;
  if (gguf)
    for (const model::Tensor* tensor : language_tensors(m)) language.insert(tensor);
  double sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const model::Tensor& tensor = m.part.tensors[i];
    if (gguf ? language.contains(&tensor) : tensor.is_parameter() || tensor.persistent)
      sum += tensors[i].bytes.real().value();
  }
  return sum;
}

Size published_parameters(const Measurement& row, const Model& m) {
  if (row["format"] != "gguf") return m.profile.parameters;
  Size sum = m.rope_factors;
  for (const model::Tensor* tensor : model::language_tensors(m))
    if (tensor->tied_to.empty() && tensor->is_parameter()) sum += tensor->elements();
  return sum;
}

PublishedSize published_size(const Measurement& row, const Model& m) {
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const auto value = row.number("value");
  if (!value || *value <= 0)
    throw Skipped(Skip::statistic, fmt::format("value '{}'", row["value"]));
  const auto choices = published_schemes(row);
  if (choices.empty()) throw Skipped(Skip::precision, row["quant"]);
  const auto parameters = static_cast<double>(published_parameters(row, m));
  const double scale = row["unit"] == "bpw" ? parameters / 8 : unit(row["unit"]);
  PublishedSize size{.published = *value * scale};
  for (const Scheme* scheme : choices) {
    if (const std::string why = refusal(m, *scheme); !why.empty())
      throw Skipped(Skip::precision, why);
    const double bytes = stored_bytes(m, *scheme);
    size.low = size.low == 0 ? bytes : std::min(size.low, bytes);
    size.high = std::max(size.high, bytes);
  }
  size.tolerance = (row["unit"] == "bytes" ? 0 : rounding(row["value"]) * scale) +
                   (row["quantity"] != "file_size" ? 0
                    : row["format"] == "gguf"      ? largest_gguf_header
                                                   : largest_header);
  size.nominal = parameters * nominal_bits(row["quant"]) / 8;
  return size;
}

}  // namespace headroom::sweep
