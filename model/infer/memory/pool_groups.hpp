// Groups of layers in a pool of pages, as vLLM's hybrid allocator makes them.
#pragma once

#include "model/infer/memory/state_pages.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Layers that share the pool are sorted into kinds of equal shape. Every group has layers of one
/// kind, and each kind is padded to whole groups:
///
///   group = layers of the rarest kind, or of the most frequent one if that is less than
///           CachePolicy::group_padding times as many
///
/// A draft's layers are in the same pool as the model's (Scenario::pool_partner). Source: vLLM 0.33
/// v1/core/kv_cache_planning.py _get_kv_cache_groups_uniform_page_size. Left out: layers whose page
/// is no divisor of the largest one, which are padded to it.
class PoolGroups {
 public:
  PoolGroups(const Scenario& scenario, Size shards);

  /// Pages of states in the pool. A draft's layers have blocks of as many tokens as the model's.
  const StatePages& states() const { return states_; }
  /// Layers of the pool that have the kind of `cache`, and their number in whole groups. Equal
  /// where nothing is padded.
  struct Layers {
    Size real, padded;
  };
  Layers layers(const CacheClass& cache) const;

 private:
  const Scenario* scenario_;
  StatePages states_;
  Size group_ = 0;  ///< layers of a group; 0: all layers are one
};

}  // namespace headroom::model
