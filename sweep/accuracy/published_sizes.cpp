#include "sweep/accuracy/published_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hardware/names.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"

namespace headroom::sweep {
namespace {

using model::Model;
using model::Scheme;

/// Bits that the first number in the name of a recipe says; 16 where it has none.
double nominal_bits(const std::string& quant) {
  const auto digit = quant.find_first_of("0123456789");
  if (digit == std::string::npos) return 16;
  return std::stod(quant.substr(digit));
}

}  // namespace

std::vector<const Scheme*> published_schemes(const Measurement& row) {
  const auto find = [](std::string_view wanted) -> const Scheme* {
    try {
      return &model::scheme(wanted);
    } catch (const UnknownName&) {
      return nullptr;
    }
  };
  std::vector<const Scheme*> found;
  for (const std::string_view choice : words(row["precision"]))
    for (const std::string_view name : split(choice, '|'))
      if (const Scheme* scheme = find(name)) {
        found.push_back(scheme);
        break;
      }
  return found;
}

double stored_bytes(const Model& m, const Scheme& scheme) {
  const std::vector<model::QuantisedTensor> tensors = quantised_tensors(m, scheme);
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
  if (row["form"] != "gguf") return m.profile.parameters;
  Size sum = m.rope_factors;
  for (const model::Tensor* tensor : model::language_tensors(m))
    if (tensor->tied_to.empty() && tensor->is_parameter()) sum += tensor->elements();
  return sum;
}

PublishedSize published_size(const Measurement& row, const Model& m) {
  const auto value = row.number("value");
  if (!value || *value <= 0)
    throw Skipped(Skip::statistic, fmt::format("value '{}'", row["value"]));
  const auto choices = published_schemes(row);
  if (choices.empty()) throw Skipped(Skip::precision, row["precision"]);
  const auto parameters = static_cast<double>(published_parameters(row, m));
  const double scale = row["unit"] == "bpw" ? parameters / 8 : 1;
  PublishedSize size{.published = *value * scale};
  for (const Scheme* scheme : choices) {
    if (const std::string why = refusal(m, *scheme); !why.empty())
      throw Skipped(Skip::precision, why);
    const double bytes = stored_bytes(m, *scheme);
    size.low = size.low == 0 ? bytes : std::min(size.low, bytes);
    size.high = std::max(size.high, bytes);
  }
  // A published figure that lies on the edge agrees.
  constexpr double edge = 1 + 1e-9;
  size.tolerance = row.number("rounding").value_or(0) * scale * edge;
  if (row["figure"] == "file_size")
    size.tolerance += row["form"] == "gguf" ? largest_gguf_header : largest_header;
  size.nominal = parameters * nominal_bits(row["precision"]) / 8;
  return size;
}

namespace {

void scale(double& bytes, double share) { bytes *= share; }

void scale(Bytes& bytes, double share) {
  bytes = Bytes(static_cast<Size>(share * bytes.real().value()));
}

void scale(model::Divided& parts, double share) {
  for (Bytes* each : {&parts.everywhere, &parts.split, &parts.heads, &parts.experts,
                      &parts.vocabulary, &parts.rows})
    scale(*each, share);
}

}  // namespace

model::QuantisedModel of_file_size(model::QuantisedModel weights, double file) {
  const double share = file / stored_bytes(*weights.model, *weights.scheme);
  const auto each_of = [share](auto&... lists) {
    (std::ranges::for_each(lists, [share](auto& each) { scale(each, share); }), ...);
  };
  for (Bytes* each : {&weights.total, &weights.embedding, &weights.head}) scale(*each, share);
  for (model::Divided* each : {&weights.shards.embedding, &weights.shards.head})
    scale(*each, share);
  scale(weights.head_read, share);
  each_of(weights.layer, weights.layers_before, weights.largest_from, weights.experts_before,
          weights.separate_before, weights.read_dense, weights.read_routed, weights.shards.before);
  return weights;
}

}  // namespace headroom::sweep
