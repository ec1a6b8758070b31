// Gradients of activations that a layer's backward pass holds at once, where kernels decide.
#pragma once

#include "model/train/tape/layer_use.hpp"
#include "model/train/tape/tape.hpp"

namespace headroom::model {

/// Elements a token of the gradients alive at once, where gate and up are overwritten by theirs
/// (Kernels::gates_in_place): the product's, or those of attention's heads. 0: they are not
/// overwritten. Source: Liger-Kernel ops/swiglu.py and geglu.py, whose backward kernels store into
/// a_ptr and b_ptr; unsloth kernels/swiglu.py.
Size in_place_width(const LayerUse& use, const Kernels& kernels);

/// Bytes of the gradients of one pair's scores in all heads, while softmax goes backward. The given
/// one is in fp32 if softmax converted the scores; the result is in their own type. 0: no scores
/// are kept. Source: transformers eager_attention_forward; torch _softmax_backward_data(grad,
/// output, dim, input_dtype).
Size score_gradients(const LayerUse& use, const TapeMode& mode);

}  // namespace headroom::model
