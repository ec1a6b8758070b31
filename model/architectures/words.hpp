// Words that encoders, towers and their heads share, beside those of model/blocks/blocks.hpp.
#pragma once

#include <string>
#include <string_view>

#include "model/activation_function.hpp"
#include "model/blocks/blocks.hpp"
#include "model/config.hpp"

namespace headroom::model::families {

/// "BertLayer" from "Bert" and "Layer".
inline std::string join(std::string_view prefix, std::string_view rest) {
  return std::string(prefix) + std::string(rest);
}
inline Part dropout(std::string_view name = "dropout") { return module(name, "Dropout"); }

/// A convolution whose weight is [out, in, window...].
inline Part convolution(std::string_view name, std::string_view class_name, Shape weight,
                        Bias bias = Bias::no) {
  const Size out = weight.front();
  Part p = tensor("weight", std::move(weight), Role::conv);
  if (bias == Bias::yes) p = std::move(p) + tensor("bias", {out}, Role::bias);
  return in(name, class_name, std::move(p));
}

/// Batch norm: scale and shift, and the running statistics as buffers.
inline Part batch_norm(std::string_view name, std::string_view class_name, Size dim) {
  return in(name, class_name,
            tensor("weight", {dim}, Role::norm) + tensor("bias", {dim}, Role::norm) +
                buffer("running_mean", {dim}, Element::floating, true) +
                buffer("running_var", {dim}, Element::floating, true) +
                buffer("num_batches_tracked", {}, Element::int64, true));
}

/// `n` children of a ModuleList that are no blocks to place: `child(name, i)`. Throws
/// std::length_error beyond `most_layers`.
template <class F>
Part list(std::string_view name, Size n, F&& child) {
  if (n > most_layers)
    throw std::length_error(std::string(name) + ": " + std::to_string(n) + " modules, at most " +
                            std::to_string(most_layers) + " are supported");
  Part all{.modules = {{std::string(name), "ModuleList"}}};
  for (Size i = 0; i < n; ++i) all = std::move(all) + at(name, child(std::to_string(i), i));
  return all;
}

/// A linear layer that is an output head of `vocab` rows.
inline Part output_head(std::string_view name, Size dim, Size vocab, Bias bias = Bias::no) {
  Part p = linear(name, dim, vocab, bias);
  p.tensors[0].role = Role::head;
  return p;
}

/// The same part where two tensors share storage: what is registered first owns it. Full names,
/// given at the root. Throws std::logic_error when there is no such tensor.
Part tied(Part part, std::string_view one, std::string_view other);

/// A tensor of `part` by its full name; throws std::logic_error.
Tensor& tensor_of(Part& part, std::string_view name);

/// The number of classes of a classification head: num_labels, else the size of id2label, else 2.
Size labels(const Config& c);

/// Learned positions kept as ids in an int64 buffer of shape [1, n].
inline Part position_ids(Size n, std::string_view name = "position_ids") {
  return buffer(name, {1, n}, Element::int64);
}

/// True when `class_name` ends in `suffix`: which head a class has.
inline bool is_for(const Config& c, std::string_view suffix) {
  return c.class_name().ends_with(suffix);
}

}  // namespace headroom::model::families
