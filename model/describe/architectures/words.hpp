// Parts that encoders, towers and their heads share, in addition to
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

/// A convolution. The shape of its weight is [out, in, window...].
Part convolution(std::string_view name, std::string_view class_name, Shape weight,
                 Bias bias = Bias::no);

/// torch's LSTM. Four gates of `hidden` each read the previous layer and the layer's own last
/// output. Throws std::length_error beyond `most_layers`.
Part lstm(std::string_view name, Size hidden, Size layers);

/// Batch norm: scale, shift, and the running statistics as buffers.
Part batch_norm(std::string_view name, std::string_view class_name, Size dim);

/// `n` children `child(name, i)` of a ModuleList. They are not layers that a plan places. Throws
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

/// A linear layer as an output head of `vocab` rows.
Part output_head(std::string_view name, Size dim, Size vocab, Bias bias = Bias::no);

/// `part` with two tensors that share storage. The tensor registered first owns it. Names are full,
/// from the root. Throws std::logic_error if there is no such tensor.
Part tied(Part part, std::string_view one, std::string_view other);

/// The tensor of `part` with that full name. Throws std::logic_error if there is none.
Tensor& tensor_of(Part& part, std::string_view name);

/// The number of classes of a classification head: num_labels, else the size of id2label, else 2.
Size labels(const Config& c);

/// An int64 buffer of shape [1, n] with the ids of learned positions.
Part position_ids(Size n, std::string_view name = "position_ids");

/// True if the name of the config's class ends in `suffix`, which identifies its head.
bool is_for(const Config& c, std::string_view suffix);

}  // namespace headroom::model::families
