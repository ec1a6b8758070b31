// The kinds of stretches that a pass is made of, each added to its time, and to the record where
// one is kept. For the files of model/infer/timeline alone.
#pragma once

#include "model/infer/placement/assignment.hpp"
#include "model/infer/timeline/record.hpp"
#include "model/infer/timeline/speed.hpp"
#include "model/infer/timeline/speeds.hpp"

namespace headroom::model {

/// What is on cards: layers of a card after those of another, or matrices that cards share, with
/// what these say to each other.
void add_layer_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                     const Pass& pass, PassTime& time, Record* record);
void add_tensor_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                      const Pass& pass, PassTime& time, Record* record);
/// Cards that share the rows of each matrix (llama.cpp's --split-mode row).
bool by_rows(const Scenario& scenario, const Plan& plan);
void add_row_split(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                   const Pass& pass, PassTime& time, Record* record);
/// What is not on cards: computed on the CPU, or streamed through the first card module by module,
/// the embedding and the head like any other.
void add_offloaded(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                   const Pass& pass, PassTime& time, Record* record);
/// Of layers on cards: tensors and caches that stay in host memory.
void add_left_on_host(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                      const Pass& pass, PassTime& time, Record* record);

/// A pass that goes on from one device to another so many times.
inline void add_crossings(const Scenario& s, double times, PassTime& time, Record* record) {
  const double taken = times * s.runtime->offload.device_handoff_s.value;
  time.crossings += taken;
  if (record != nullptr && taken > 0)
    record->push_back({.over = Over::crossings, .seconds = taken});
}

/// Calls `f` for each layer of `piece` that runs.
template <class F>
void for_layers(const Pass& pass, const LayerSpan& piece, F&& f) {
  const Range run = intersect(piece.layers, pass.layers);
  for (Size layer = run.first; layer < run.last; ++layer)
    f(LayerSpan{{layer, layer + 1}, piece.content});
}

/// Bytes of recurrent state among what is read of caches.
inline double state_read(const Scenario& s, const Pass& pass, const LayerSpan& piece,
                         Size shards = 1) {
  if (pass.prompt > 0 || piece.content == Content::experts) return 0;
  const Range run = intersect(piece.layers, pass.layers);
  return kv_read(s, {}, run.first, run.last, shards);
}

}  // namespace headroom::model
