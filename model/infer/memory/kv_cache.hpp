// Bytes of KV cache and recurrent state by range of layers.
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <utility>

#include "model/infer/memory/state_pages.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Tokens in the caches of one sequence.
struct CachedTokens {
  Size self = 0;             ///< tokens of the decoder's own sequence
  Size source = 0;           ///< tokens of the encoder's output, for cross-attention
  bool just_passed = false;  ///< all went through the last pass (CachePolicy::window_views)

  bool operator==(const CachedTokens&) const = default;
};

/// Tokens that the scenario reserves memory for: its context, in the runtime's blocks.
CachedTokens reserved_tokens(const Scenario& scenario);
/// Likewise. `context`: its cached_tokens().
CachedTokens reserved_tokens(const Scenario& scenario, Size context);

/// Recurrent states of each sequence: one, and with speculative decoding one for each proposed
/// token, to return to where a proposal is not kept. vLLM 0.33 v1/kv_cache_interface.py
/// num_speculative_blocks; SGLang 0.5 mem_cache: intermediate states; llama.cpp common/common.h
/// need_n_rs_seq, not for a draft model, whose states are computed again.
Size state_copies(const Scenario& scenario);

/// How an engine keeps the caches of a model on one of `shards` cards, whatever the sizes are.
class CacheRules {
 public:
  CacheRules(const Scenario& scenario, Size shards);

  struct Class {
    const CacheClass* of;
    const Size* elements_before;  ///< prefix sums, elements per token
    const Size* values_before;    ///< … values among them, in a format of their own; null: none
    const Size* state_before;     ///< prefix sums, elements per sequence
    const Size* fp32_before;      ///< prefix sums, elements per sequence in fp32
    Size elements, states;        ///< the last of these sums
    Size window;                  ///< tokens, as the engine stores it; 0: none
    Size layers, padded_layers;   ///< layers padded to so many; 1, 1: none
    Size state_elements;          ///< elements that state_bytes are of: of a layer in a pool
    Size state_bytes;             ///< bytes of such a state of a sequence, copies included
    Size wider_bytes;             ///< additional bytes of each element in fp32, likewise
    Size ways;                    ///< parts that cards divide it into
    Size entry_elements;  ///< elements of entries in a format of their own; 0: there are none
    Size entry_bytes;     ///< … and bytes of each
    bool is_plain;        ///< none of that: elements of each token, all in the format of keys

    Size padded(Size count) const { return layers == 1 ? count : count * padded_layers / layers; }
  };
  /// Tokens that are reserved together.
  Size block_tokens() const { return block_; }

 private:
  /// A format whose blocks have a power of two of elements.
  struct Blocks {
    explicit Blocks(const Precision& precision);
    /// Bytes of so many elements, in whole blocks.
    Size bytes(Size elements) const { return ((elements + round) >> shift) * block_bytes; }

    Size round, block_bytes;
    int shift;  ///< log2 of the elements of a block
  };

  friend class CacheBytes;
  boost::container::small_vector<Class, 4> classes_;
  Size block_;
  Size copies_;
  Blocks keys_, values_;
  double element_bytes_;  ///< the larger one's
  bool packed_;           ///< one pool of blocks that hold pages of several sizes
  StatePages states_;
};

/// Bytes of key-value cache and recurrent state of layers [first, last), all sequences together, on
/// one of `shards` cards that split each matrix.
///
///   batch * (sum over layers of stored(precision, per_token * min(context, window + slack)) +
///            state elements * state bytes)
///
/// Keys and values in different formats are two such sums. Latents are keys; a second copy of their
/// values has the values' format (llama.cpp llama-kv-cache.cpp, type_k and type_v).
///
/// context is in tokens; window 0 means none, also if the runtime does not cap it. In a pool of
/// pages (vLLM's hybrid allocator), a layer with a window has, for all sequences together,
///
///   (batch - 1) * (blocks(window - 1) + 1) + blocks(window - 1 + tokens of one pass) + 1
///
/// blocks. A prompt's chunk is written before blocks outside the window are freed, and a window may
/// start inside a block. Layers of each kind are padded to whole groups
/// (model/infer/memory/pool_groups.hpp). Source: vLLM 0.11 v1/kv_cache_interface.py
/// SlidingWindowSpec.max_memory_usage_bytes. States that share such a pool have its pages
/// (model/infer/memory/state_pages.hpp). Left out: layers that attend in chunks,
/// --disable-hybrid-kv-cache-manager. MLA counts its latent or the expanded K and
/// V, as the runtime stores it. Saturates below 2^62. Each shard has its own key-value heads, or
/// all of them if there are fewer heads than shards. Latents and index keys are complete on each
/// (vLLM 0.19 config/model.py get_num_kv_heads).
///
/// In pools whose windows have a share of the context, such a layer has at least its window and
/// that share, in blocks (CachePolicy::window_share). Source: SGLang 0.5.23
/// model_executor/pool_configurator.py HybridSWAPoolConfigurator.
///
/// Some models keep one entry for several tokens, of values or of an indexer's keys. Their caches
/// come from a pool whose blocks hold all kinds of pages (model/infer/memory/packed_pool.hpp).
/// Engines with sparse attention's kernels store its entries in the kernels' FP8 formats. Index
/// keys always use it, latents and compressed entries with an FP8 cache. Source: Pope et al.,
/// arXiv:2211.05102; MLA: DeepSeek-V3, arXiv:2412.19437 section 2.1.
class CacheBytes {
 public:
  /// `rules`: those of the scenario, which outlive this.
  CacheBytes(const CacheRules& rules, const Scenario& scenario, const CachedTokens& tokens);
  CacheBytes(const Scenario& scenario, const CachedTokens& tokens, Size shards = 1)
      : CacheBytes(std::make_shared<const CacheRules>(scenario, shards), scenario, tokens) {}
  Bytes operator()(Size first, Size last) const {
    if (first == last) return Bytes(0);
    if (pooled_ != nullptr && !huge_) return of_pool(first, last);
    const auto f = static_cast<std::size_t>(first), l = static_cast<std::size_t>(last);
    Size total = 0;
    for (const Class& c : classes_) {
      const Size each = c.rule->elements_before[l] - c.rule->elements_before[f];
      total += c.rule->is_plain ? rules_->keys_.bytes(c.held * each) : in_parts(c, each, f, l);
    }
    return Bytes(huge_ && last > first ? most : total);
  }

 private:
  static constexpr Size most = Size{1} << 60;
  struct Class {
    const CacheRules::Class* rule = nullptr;
    Size held = 0;         ///< tokens of all sequences together
    Size state_bytes = 0;  ///< bytes of a state, all sequences together
    Size wider_bytes = 0;  ///< additional bytes of each element in fp32, all sequences together
  };
  CacheBytes(std::shared_ptr<const CacheRules> rules, const Scenario& scenario,
             const CachedTokens& tokens)
      : CacheBytes(*rules, scenario, tokens) {
    own_ = std::move(rules);
  }
  /// `each`: elements of a token.
  Size in_parts(const Class& of, Size each, std::size_t first, std::size_t last) const;
  Bytes of_pool(Size first, Size last) const;

  std::shared_ptr<const CacheRules> own_;
  const CacheRules* rules_ = nullptr;
  boost::container::small_vector<Class, 4> classes_;
  bool huge_ = false;
  const Scenario* pooled_ = nullptr;  ///< caches from one pool of blocks
  Size tokens_ = 0;                   ///< … of each sequence
};

/// True if MLA runs on latents here; false: on expanded K and V.
bool keeps_latents(const Engine& engine, const Model& model);
inline bool keeps_latents(const Scenario& scenario) {
  return keeps_latents(*scenario.runtime, *scenario.weights->model);
}
/// True if the engine keeps the latents of MLA, and the model has it.
bool caches_latents(const Scenario& scenario);

/// The window beyond which a layer of this kind does not hold all tokens; 0: it holds them.
Size stored_window(const Scenario& scenario, const CacheClass& cache);

/// Tokens of each sequence that layers of this kind hold memory for. `window`: as stored_window().
Size tokens_of_sequence(const Scenario& scenario, const CacheClass& cache, Size window,
                        const CachedTokens& tokens);

/// Bytes of one range.
inline Bytes kv_cache(const Scenario& scenario, const CachedTokens& tokens, Size first, Size last) {
  return CacheBytes(scenario, tokens)(first, last);
}

}  // namespace headroom::model
