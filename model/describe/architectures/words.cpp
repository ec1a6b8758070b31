// Functions of words.hpp that are too long for a header.
#include "model/describe/architectures/words.hpp"

#include <boost/json.hpp>
#include <stdexcept>
#include <utility>

namespace headroom::model::families {

std::string join(std::string_view prefix, std::string_view rest) {
  return std::string(prefix) + std::string(rest);
}

Part dropout(std::string_view name) { return module(name, "Dropout"); }

Part convolution(std::string_view name, std::string_view class_name, Shape weight, Bias bias) {
  const Size out = weight.front();
  Part p = tensor("weight", std::move(weight), Role::conv);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {out}, Role::bias);
  return in(name, class_name, std::move(p));
}

Part batch_norm(std::string_view name, std::string_view class_name, Size dim) {
  return in(name, class_name,
            tensor("weight", {dim}, Role::norm) + tensor("bias", {dim}, Role::norm) +
                buffer("running_mean", {dim}, Element::floating, true) +
                buffer("running_var", {dim}, Element::floating, true) +
                buffer("num_batches_tracked", {}, Element::int64, true));
}

Part lstm(std::string_view name, Size hidden, Size layers) {
  if (layers > most_layers)
    throw std::length_error(std::string(name) + ": " + std::to_string(layers) +
                            " layers, at most " + std::to_string(most_layers) + " are supported");
  Part p;
  for (Size i = 0; i < layers; ++i) {
    const std::string layer = "l" + std::to_string(i);
    for (const std::string from : {"ih_", "hh_"})
      p = std::move(p) + tensor("weight_" + from + layer, {4 * hidden, hidden}, Role::matmul);
    for (const std::string from : {"ih_", "hh_"})
      p = std::move(p) + tensor("bias_" + from + layer, {4 * hidden}, Role::bias);
  }
  return in(name, "LSTM", std::move(p));
}

Part output_head(std::string_view name, Size dim, Size vocab, Bias bias) {
  Part p = linear(name, dim, vocab, bias);
  p.tensors[0].role = Role::head;
  return p;
}

Part position_ids(Size n, std::string_view name) { return buffer(name, {1, n}, Element::int64); }

bool is_for(const Config& c, std::string_view suffix) { return c.class_name().ends_with(suffix); }

Tensor& tensor_of(Part& part, std::string_view name) {
  for (auto& t : part.tensors)
    if (t.name == name) return t;
  throw std::logic_error("no tensor called " + std::string(name));
}

Part tied(Part part, std::string_view one, std::string_view other) {
  Tensor *first = &tensor_of(part, one), *second = &tensor_of(part, other);
  if (second < first) std::swap(first, second);
  second->tied_to = first->name;
  return part;
}

Size labels(const Config& c) {
  if (c.has("num_labels")) return c.dim({"num_labels"});
  if (!c.has("id2label")) return 2;
  const auto size = static_cast<Size>(c.section("id2label").object().size());
  return size > 0 ? size : 2;
}

}  // namespace headroom::model::families
