// Blocks that encoders, towers and their heads share, in addition to
// model/describe/blocks/blocks.hpp.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/activation_function.hpp"
#include "model/describe/blocks/blocks.hpp"
#include "model/describe/config.hpp"

namespace headroom::model::families {

/// "BertLayer" from "Bert" and "Layer".
std::string join(std::string_view prefix, std::string_view rest);
Part dropout(std::string_view name = "dropout");

/// A convolution whose weight is [out, in, window...].
Part convolution(std::string_view name, std::string_view class_name, Shape weight,
                 Bias bias = Bias::no);

/// Batch norm: scale and shift, and the running statistics as buffers.
Part batch_norm(std::string_view name, std::string_view class_name, Size dim);

/// `n` children of a ModuleList that are not layers to place: `child(name, i)`. Throws
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
Part output_head(std::string_view name, Size dim, Size vocab, Bias bias = Bias::no);

/// `part` with two tensors that share storage. The one registered first owns it. Names are full,
/// from the root. Throws std::logic_error when there is no such tensor.
Part tied(Part part, std::string_view one, std::string_view other);

/// A tensor of `part` by its full name; throws std::logic_error.
Tensor& tensor_of(Part& part, std::string_view name);

/// The number of classes of a classification head: num_labels, else the size of id2label, else 2.
Size labels(const Config& c);

/// Learned positions kept as ids in an int64 buffer of shape [1, n].
Part position_ids(Size n, std::string_view name = "position_ids");

/// True when `class_name` ends in `suffix`: which head a class has.
bool is_for(const Config& c, std::string_view suffix);

}  // namespace headroom::model::families
