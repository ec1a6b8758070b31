// A tensor as rules of llama.cpp's mixes ask about it.
#pragma once

#include "model/checkpoint/quantisation/mix.hpp"

namespace headroom::test {

/// The tensor of layer `index` of `layers`, whose rows have `row` elements.
inline model::MixQuestion ask(model::TensorClass tensor_class, Size index = 10, Size layers = 32,
                              Size row = 4096) {
  model::MixQuestion q;
  q.tensor_class = tensor_class;
  q.index = index;
  q.of = layers;
  q.row = row;
  return q;
}

}  // namespace headroom::test
