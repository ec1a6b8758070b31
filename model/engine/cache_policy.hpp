// How an engine stores keys, values and recurrent state.
#pragma once

#include <string_view>
#include <vector>

#include "hardware/precision.hpp"
#include "hardware/units.hpp"
#include "model/engine/cards_from.hpp"

namespace headroom::model {

/// How caches get their memory.
enum class Growth {
  reserved,        ///< all of it before the first token
  by_layer,        ///< each layer's is copied into a larger one, the old one freed immediately
  reallocate_all,  ///< as above, and the old ones of all layers are freed only after the pass
};

/// Number of tokens in the caches of sliding-window layers.
enum class Windows {
  whole,           ///< the whole context
  capped,          ///< the window of each layer
  hybrid_kv_pool,  ///< the window of each layer, layers of all kinds from one pool of pages
                   ///< (model/infer/memory/kv_cache.hpp)
  share,           ///< a share of the context, by classes
};

/// A format in which an engine stores keys and values.
struct CacheFormat {
  std::string_view precision;      ///< hardware/precision.hpp
  std::string_view word{};         ///< the engine's own name; empty: as the weights are computed
  std::vector<CardsFrom> cards{};  ///< cards with kernels for it; none listed: all
};

/// Formats of keys and of values that an engine combines.
enum class SeparateFormats {
  never,
  quantised,      ///< only where both are quantised
  unless_latent,  ///< not where values are part of the keys' latents
  always,
};

/// The type of the states that scans carry from token to token (Mamba, the gated delta rule).
enum class ScanStates {
  as_model,  ///< fp32 where the model says so, else as state_bytes
  fp32,
};

struct CachePolicy {
  std::vector<CacheFormat> formats;
  std::string_view formats_source;
  SeparateFormats separate;  ///< keys and values in different formats
  /// Values of `quant_method` whose checkpoints decide the format, where they state one.
  std::vector<std::string_view> follows_checkpoint;
  Windows windows;      ///< tokens that sliding-window layers hold
  double window_share;  ///< with Windows::share: at least the window
  /// … of these classes, sorted. Layers of other classes hold the whole context.
  std::vector<std::string_view> share_classes;
  Size window_slack;  ///< tokens that a capped sliding window caches in addition
  bool window_views;  ///< after a pass windows are slices, whose storage is that of all its tokens
  Size block_tokens;  ///< tokens that KV memory is handed out in
  Growth growth;      ///< how caches reach their size
  Size state_bytes;   ///< bytes of one element of recurrent state
  ScanStates scan_states;
  Size passes_ahead;  ///< passes scheduled besides those that run; 0: windows count one pass
  Size state_pages;   ///< pages of a pool that a sequence holds for each recurrent layer
  bool states_limit_sequences;  ///< refuses more sequences than it has pages of states
  bool newest_input;  ///< convolutions keep the newest token's input too, which no step needs
  /// Among the classes that the engine runs by name: those whose windows it applies, sorted. Empty:
  /// all.
  std::vector<std::string_view> windowed_classes;
  /// Classes of MLA whose K and V it stores expanded nevertheless, sorted.
  std::vector<std::string_view> expanded_classes;
  /// Classes whose indexer's keys it stores with values as wide, sorted.
  std::vector<std::string_view> index_values_classes;
  bool latent;                 ///< MLA stores the latent, not expanded K and V
  bool pads_expanded;          ///< expanded K and V of MLA have heads of a power of two
  bool duplicates_mla_values;  ///< … and the latent's values a second time
  bool repeated_heads;         ///< stores K and V for each query head where transformers does
  bool sparse_in_fp8;          ///< sparse attention's caches have the FP8 formats of its kernels
  double
      compressed_window_share;  ///< windows besides compressed entries hold this share; 0: theirs
  double group_padding;         ///< kinds of layers in a pool that differ by less are equal groups
  bool optional;                ///< can generate without a KV cache
  bool rejects_beyond_max_positions;  ///< refuses a context beyond the model's positions

  /// The engine's own format for `precision`; nullptr: it has none.
  const CacheFormat* format(const Precision& precision) const;
};

}  // namespace headroom::model
