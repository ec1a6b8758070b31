// Bytes that attention reads and FLOPs that it makes in a pass.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "model/infer/memory/kv_cache.hpp"

namespace headroom::model {

/// Attention of some layers, on one of the cards that split each matrix. Sums over the layers of
/// AttentionRules, whatever the sizes are.
class AttentionSums {
 public:
  /// Bytes that one decode step of `batch` sequences reads from the caches. Reserved tokens do not
  /// count. Layers with a window read the window. Sparse attention reads the tokens that it picks,
  /// if the runtime reads no more.
  RealBytes read(Size batch, const CachedTokens& tokens) const;

  /// FLOPs of attention scores and their products with V for one new token of each sequence, of all
  /// shards: 2 * score_dims * min(tokens, window, picked) * batch. The indexer that picks looks at
  /// all tokens: it has a cache of its own. Source: DeepSeek-V3.2, arXiv:2512.02556, section 2.1.
  Flops decode_flops(Size batch, const CachedTokens& tokens) const;

  /// Sum over a whole causal prompt: each token attends to earlier ones, up to that number.
  Flops prompt_flops(Size batch, Size prompt) const;

 private:
  friend class AttentionRules;
  struct Class {
    bool crosses;        ///< over the encoder's output
    double reach;        ///< tokens that one query looks at, at most
    double token_bytes;  ///< bytes of a token that a decode step reads
    double state_bytes;  ///< bytes of a sequence's state that it reads and writes
    double ways;         ///< parts that cards divide a cache into
    double dims;         ///< as CacheClass::score_dims_before
  };
  boost::container::small_vector<Class, 4> classes_;
};

/// Attention over the caches of a model under an engine, on one of `shards` cards that split each
/// matrix, whatever the sizes and budgets are.
class AttentionRules {
 public:
  explicit AttentionRules(const Scenario& scenario, Size shards = 1);

  AttentionSums over(Range layers) const;

  /// True if the scores of a prompt are all in memory.
  bool stores_scores() const { return stores_scores_; }
  /// True if a decode step unpacks the caches before it reads them.
  bool unpacks() const { return unpacks_; }

 private:
  struct Class {
    bool crosses;                   ///< over the encoder's output
    bool read;                      ///< by a decode step
    double reach;                   ///< tokens that one query looks at, at most
    double ways;                    ///< parts that cards divide a cache into
    double key_bytes, value_bytes;  ///< bytes of an element
    double entry_bytes;             ///< bytes of an entry in a format of its own; 0: none
    double entry_elements;          ///< elements of such an entry
    const Size* elements_before;    ///< prefix sums, elements per token
    const Size* values_before;      ///< … values among them, in another format; null: none
    const Size* state_before;       ///< prefix sums, elements per sequence
    const Size* fp32_before;        ///< … those in fp32
    const Size* dims_before;        ///< prefix sums, as CacheClass::score_dims_before
  };
  static double token_bytes(const Class& of, Range layers);

  boost::container::small_vector<Class, 4> classes_;
  Size state_bytes_, wider_bytes_;  ///< bytes of an element of state; more of one in fp32
  bool stores_scores_, unpacks_;
};

inline RealBytes AttentionSums::read(Size batch, const CachedTokens& tokens) const {
  const double self = real_count(tokens.self), source = real_count(tokens.source);
  double bytes = 0;
  for (const Class& c : classes_)
    bytes +=
        (std::min(c.reach, c.crosses ? source : self) * c.token_bytes + c.state_bytes) / c.ways;
  return RealBytes(bytes * real_count(batch));
}

inline Flops AttentionSums::decode_flops(Size batch, const CachedTokens& tokens) const {
  const double self = real_count(tokens.self), source = real_count(tokens.source);
  double flops = 0;
  for (const Class& c : classes_)
    flops += 2.0 * std::min(c.reach, c.crosses ? source : self) * c.dims;
  return Flops(flops * real_count(batch));
}

inline Flops AttentionSums::prompt_flops(Size batch, Size prompt) const {
  const double n = real_count(prompt);
  double flops = 0;
  for (const Class& c : classes_) {
    const double w = std::min(c.reach, n);
    flops += 2.0 * (w * (w + 1) / 2 + (n - w) * w) * c.dims;
  }
  return Flops(flops * real_count(batch));
}

}  // namespace headroom::model
