// The kinds of segments that a pass is made of. For the files of model/infer/timeline alone.
#pragma once

#include "model/infer/placement/assignment.hpp"
#include "model/infer/timeline/speeds.hpp"
#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

/// Layers on cards that follow each other.
void add_layer_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                     const Pass& pass, Timeline& time);
/// Matrices that cards share, and what the cards exchange.
void add_tensor_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                      const Pass& pass, Timeline& time);
/// Rows of each matrix that cards share (llama.cpp's --split-mode row).
bool by_rows(const Scenario& scenario, const Plan& plan);
void add_row_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                   const Pass& pass, Timeline& time);
/// Layers, embedding and head that are not on cards: computed on the CPU, or streamed through the
/// first card module by module.
void add_offloaded(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                   const Pass& pass, Timeline& time);
/// Tensors and caches of layers on cards that stay in host memory.
void add_left_on_host(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                      const Pass& pass, Timeline& time);

/// Seconds of two all-reduces a layer between `cards` that divide its matrices.
Seconds all_reduces(const Scenario& scenario, const Speeds::Link& link, const Pass& pass,
                    Size cards);
/// Bytes of a pass's activations in 16 bit.
inline RealBytes activation_bytes(const Scenario& s, const Pass& pass) {
  return RealBytes(pass.tokens * static_cast<double>(s.weights->model->shape.hidden_size) * 2.0);
}

/// A pass that goes on from one device to another so many times.
inline void add_handoffs(const Scenario& s, double times, Timeline& time) {
  const Seconds taken(times * s.runtime->offload.device_handoff_s.value);
  if (taken > Seconds())
    time.add(Resource::handoffs, taken, [&] { return Segment{.kernels = times}; });
}

/// Calls `f` for each layer of `piece` that runs.
template <class F>
void for_layers(const Pass& pass, const LayerSpan& piece, F&& f) {
  const Range run = intersect(piece.layers, pass.layers);
  for (Size layer = run.first; layer < run.last; ++layer)
    f(LayerSpan{{layer, layer + 1}, piece.content});
}

/// Bytes of recurrent state among the caches that a pass reads.
inline RealBytes state_read(const Scenario& s, const Pass& pass, const LayerSums& of) {
  return pass.prompt > 0 ? RealBytes() : of.attention.read(s.batch, {});
}

}  // namespace headroom::model
