// The Conformer's layer (arXiv:2005.08100) as W2v-BERT and SeamlessM4T register it, and the adapter
// that makes fewer frames of many.
#pragma once

#include <string>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

/// One layer's numbers; class names are `k` + "SelfAttention" and so on.
struct Conformer {
  std::string k;
  Size hidden, inner, kernel;
  std::string act;
  Part first_positions{}, last_positions{};  ///< rows of attention for positions, about its others
  Part conv_norm;                            ///< behind the convolution over time
};

Part conformer_feed_forward(const Conformer& s, std::string_view name, const std::string& act);
Part conformer_layer(const Conformer& s);

/// An adapter's layer: attention without positions, convolutions of `kernel` that stride.
Part conformer_adapter_layer(Conformer s, Size kernel, const std::string& act);

}  // namespace headroom::model::families
